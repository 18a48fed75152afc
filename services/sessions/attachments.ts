import { createHash } from 'node:crypto';
import { mapPointers } from '../../lib/errors.ts';
import type { Call, Client } from '../../lib/grpc/contract.ts';
import { isId } from '../../lib/ids.ts';
import { mediaTypeOf } from '../../lib/media-type.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type {
  Attachment,
  AttachmentList,
  InitialFileList,
} from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { journaledContent, type RequestPart, requireParts } from './domain/content.ts';

export type Attachments = ReturnType<typeof createAttachments>;

/** The session whose message or workspace gets bytes. */
interface TargetSession {
  sessionId: string;
  ownerId: string;
  agentId: string;
  agentVersion: number;
  /** JSON text of the overrides in force. Undefined for none. */
  overridesJson?: string | undefined;
}

interface AttachmentsContext {
  agents: Pick<Client<AgentsServiceDefinition>, 'resolveOverrides'>;
  files: Pick<Client<FilesServiceDefinition>, 'storeParts' | 'placeUploads'>;
}

/** Stores the bytes that messages and new conversations bring along. */
export function createAttachments({ agents, files }: AttachmentsContext) {
  /** Refuses with CONTENT_NOT_SUPPORTED when the model does not accept one of the media types. */
  async function checkMedia(
    { agentId, agentVersion, overridesJson: inForce = '' }: TargetSession,
    mediaTypes: string[],
    call: Call,
  ): Promise<void> {
    const request = { agentId, agentVersion, sessionOverridesJson: inForce, overridesJson: '', mediaTypes };
    await agents.resolveOverrides(request, call).catch(refuseAt('/content'));
  }

  return {
    /**
     * Checks a content against the model of the session and stores the bytes of its parts. Returns the content for the
     * journal. Repeating it has no further effect. The pointers of refusals begin with /content.
     */
    async store(
      content: unknown,
      { attachments }: AttachmentList,
      session: TargetSession,
      call: Call,
    ): Promise<string> {
      const parts = requireParts(content, attachments.length);
      const remaining = attachments[Symbol.iterator]();
      const newParts = parts.flatMap((part, index) => {
        if (part.type === 'text') return [];
        const { type, media_type: mediaType = '', name = '' } = part;
        return [{ type, mediaType, name, attachment: remaining.next().value, index }];
      });
      const implied = impliedTypes(parts, attachments);
      await checkMedia(session, implied, call);
      const { sessionId, ownerId } = session;
      const request = { sessionId, ownerId, assistantId: assistantIdOf(session), parts: newParts };
      const { parts: stored } = await files.storeParts(request, call).catch(refuseAt('/content'));
      // The media type of an upload is known only now.
      const known = storedTypes(parts, stored);
      if (known.some((type, index) => type !== implied[index])) await checkMedia(session, known, call);
      return journaledContent(parts, stored);
    },

    /** Writes uploads into the workspace of a session that is about to be created. Pointers begin with /files. */
    async place({ files: placed }: InitialFileList, session: TargetSession, call: Call): Promise<void> {
      const { sessionId, ownerId } = session;
      const request = { sessionId, ownerId, assistantId: assistantIdOf(session), files: placed };
      await files.placeUploads(request, call).catch(refuseAt('/files'));
    },
  };
}

/** The attachments as they take part in the comparison of two requests: with digests instead of bytes. */
export function digestedAttachments(list: AttachmentList | undefined): AttachmentList | undefined {
  return list && { attachments: list.attachments.map(digested) };
}

function digested({ source }: Attachment): Attachment {
  if (source?.$case !== 'data') return { source };
  const value = createHash('sha256').update(source.value).digest();
  return { source: { $case: 'data', value } };
}

function refuseAt(pointer: string) {
  return (error: unknown): never => {
    throw mapPointers(error, (part) => pointer + part);
  };
}

/** The media type of each part as far as it is known before the bytes are found; empty for text parts. */
function impliedTypes(parts: readonly RequestPart[], attachments: readonly Attachment[]): string[] {
  const remaining = attachments[Symbol.iterator]();
  return parts.map((part) => {
    if (part.type === 'text') return '';
    const source = remaining.next().value?.source;
    return part.media_type ?? (source?.$case === 'path' ? mediaTypeOf(source.value) : '');
  });
}

function storedTypes(parts: readonly RequestPart[], stored: readonly { mediaType: string }[]): string[] {
  const remaining = stored[Symbol.iterator]();
  return parts.map(({ type }) => (type === 'text' ? '' : (remaining.next().value?.mediaType ?? '')));
}

function assistantIdOf({ agentId }: TargetSession): string {
  return isId('ast', agentId) ? agentId : '';
}
