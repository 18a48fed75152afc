import { SlackError } from '../error.ts';
import { fileObject, type Json } from '../objects.ts';
import type { SlackFile, Workspace } from '../workspace.ts';
import { threadOf } from './chat.ts';
import { contentOf } from './content.ts';
import { type CallContext, findChannel, type Methods, requireMember } from './method.ts';

/** An upload whose bytes may have arrived. */
export interface PendingUpload {
  fileId: string;
  name: string;
  length: number;
  bytes?: Buffer;
}

/** Completed uploads are shared asynchronously. The response does not have the shares yet. */
const SHARE_DELAY_MS = 20;

export function createFileMethods(uploads: Map<string, PendingUpload>): Methods {
  function getUploadUrl({ workspace, args, origin }: CallContext): Json {
    const name = args.text('filename');
    const length = args.number('length', 0);
    if (!name || length === 0) throw new SlackError('missing_argument');
    if (!Number.isInteger(length) || length < 0) throw new SlackError('invalid_arguments');
    const ticket = workspace.ids.hex(64);
    const fileId = workspace.ids.id('F');
    uploads.set(ticket, { fileId, name, length });
    return { upload_url: `${origin}/upload/v1/${ticket}`, file_id: fileId };
  }

  function take(workspace: Workspace, value: unknown): SlackFile[] {
    if (!Array.isArray(value) || value.length === 0) throw new SlackError('invalid_arguments');
    const taken = (value as { id?: string }[]).map(({ id }) => {
      const [ticket, upload] = [...uploads].find(([, { fileId }]) => fileId === id) ?? [];
      if (!ticket || !upload?.bytes) throw new SlackError('file_not_found');
      return { ticket, upload, bytes: upload.bytes };
    });
    return taken.map(({ ticket, upload, bytes }) => {
      uploads.delete(ticket);
      return workspace.addFile({ id: upload.fileId, name: upload.name, user: workspace.app.botUser, bytes });
    });
  }

  function complete(context: CallContext): Json {
    const { workspace, args, origin } = context;
    const id = args.text('channel_id');
    const channel = findChannel(workspace, id);
    if (id && !channel) throw new SlackError('channel_not_found');
    if (channel) requireMember(workspace, channel);
    const threadTs = channel && threadOf(context, channel);
    const comment = args.text('initial_comment');
    const blocks = comment || !args.text('blocks') ? undefined : contentOf(context, 'post').blocks;
    const files = take(workspace, args.structure('files', 'invalid_arguments'));
    if (channel) {
      const content = {
        text: comment ?? '',
        ...(blocks && { blocks }),
        ...(threadTs && { threadTs }),
        files,
      };
      workspace.clock.after(SHARE_DELAY_MS, () => {
        workspace.post(channel, { ...content, user: workspace.app.botUser });
      });
    }
    return { files: files.map((file) => fileObject(workspace, file, origin, true)) };
  }

  function info({ workspace, args, origin }: CallContext): Json {
    const file = workspace.files.get(args.text('file') ?? '');
    if (!file) throw new SlackError('file_not_found');
    if (file.isDeleted) throw new SlackError('file_deleted');
    return { file: fileObject(workspace, file, origin, true), comments: [] };
  }

  return {
    'files.getUploadURLExternal': { token: 'bot', scope: () => 'files:write', run: getUploadUrl },
    'files.completeUploadExternal': { token: 'bot', scope: () => 'files:write', run: complete },
    'files.info': { token: 'bot', scope: () => 'files:read', run: info },
  };
}
