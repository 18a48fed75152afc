import { createHash } from 'node:crypto';
import { mapPointers } from '../../lib/errors.ts';
import type { Call, Client } from '../../lib/grpc/contract.ts';
import { isId } from '../../lib/ids.ts';
import { mediaTypeOf } from '../../lib/media-type.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { FilesServiceDefinition, StorePartsRequest } from '../../proto/gen/ahs/files/v1/files.ts';
import {
  type Attachment,
  type AttachmentList,
  type FileEvent,
  type InitialFileList,
  SubmitToolResultRequest,
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
      const { sessionId, ownerId } = session;
      const target = { sessionId, ownerId, assistantId: assistantIdOf(session) };
      const storeParts = (request: Pick<StorePartsRequest, 'parts' | 'checkOnly'>) =>
        files.storeParts({ ...target, ...request }, call).catch(refuseAt('/content'));
      // An upload can bring its own media type. It is looked up first, so that a refused content stores nothing.
      const untyped = newParts.filter(({ index }) => implied[index] === '');
      const { parts: found } =
        untyped.length === 0 ? { parts: [] } : await storeParts({ parts: untyped, checkOnly: true });
      const types = new Map(untyped.map(({ index }, position) => [index, found[position]?.mediaType]));
      await checkMedia(
        session,
        implied.map((type, index) => types.get(index) ?? type),
        call,
      );
      const { parts: stored } = await storeParts({ parts: newParts });
      return journaledContent(parts, stored);
    },

    /** Refuses files that cannot be placed because of their paths or uploads. Pointers begin with /files. */
    async checkFiles(list: InitialFileList, session: TargetSession, call: Call): Promise<void> {
      await files
        .placeUploads({ ...placement(list, session), checkOnly: true }, call)
        .catch(refuseAt('/files'));
    },

    /**
     * Writes uploads into the workspace of a session that is about to be created. Returns their event, which the session
     * gets later if it is not created with it. Pointers begin with /files.
     */
    async place(list: InitialFileList, session: TargetSession, call: Call): Promise<FileEvent | undefined> {
      const { event } = await files.placeUploads(placement(list, session), call).catch(refuseAt('/files'));
      return event;
    },
  };
}

/** The attachments as they take part in the comparison of two requests: with digests instead of bytes. */
export function digestedAttachments(list: AttachmentList | undefined): AttachmentList | undefined {
  return list && { attachments: list.attachments.map(digested) };
}

/** The digest of a tool result by which its repetition is recognized, as hexadecimal text. */
export function resultDigest(request: SubmitToolResultRequest): string {
  const attachments = digestedAttachments(request.attachments);
  const bytes = SubmitToolResultRequest.encode({ ...request, attachments }).finish();
  return createHash('sha256').update(bytes).digest('hex');
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

function placement({ files }: InitialFileList, session: TargetSession) {
  const { sessionId, ownerId } = session;
  return { sessionId, ownerId, assistantId: assistantIdOf(session), files };
}

function assistantIdOf({ agentId }: TargetSession): string {
  return isId('ast', agentId) ? agentId : '';
}
