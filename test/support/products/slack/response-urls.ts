import { json, type ProductRequest, type ProductResponse } from '../http-server.ts';
import { checkBlocks } from './blocks.ts';
import { SlackError } from './error.ts';
import type { SlackChannel, SlackMessage, Workspace } from './workspace.ts';

/** A response URL can be used this often. */
const MAX_USES = 5;

interface Target {
  user: string;
  channel: SlackChannel;
  /** The message of a click. */
  message?: SlackMessage;
}

interface Reply {
  text?: string;
  blocks?: unknown;
  response_type?: 'in_channel' | 'ephemeral';
  replace_original?: boolean;
  delete_original?: boolean;
}

/** The addresses with which an app responds to a click or a command without a token. */
export interface ResponseUrls {
  issue(kind: 'actions' | 'commands', target: Target): string;
  /** Handles a request, or returns undefined for another path. */
  handle(path: string, request: ProductRequest): ProductResponse | undefined;
  /** Applies the body of an acknowledgement of a command, which is JSON or text. Ignores an empty one. */
  apply(body: string, target: Target): void;
}

export function createResponseUrls(workspace: Workspace, origin: () => string): ResponseUrls {
  const issued = new Map<string, { target: Target; uses: number }>();

  function apply(body: string, { user, channel, message }: Target): void {
    if (body.trim() === '') return;
    const reply = parseReply(body);
    // An acknowledgement without content.
    if (Object.keys(reply).length === 0) return;
    const author = workspace.app.botUser;
    const blocks =
      reply.blocks === undefined ? undefined : checkBlocks(reply.blocks, () => workspace.ids.hex(5));
    const content = { text: reply.text ?? '', ...(blocks && { blocks }) };
    if (reply.delete_original && message) {
      workspace.remove(channel, message);
    } else if (!content.text && !blocks) {
      throw new SlackError('no_text');
    } else if (reply.replace_original && message) {
      workspace.change(channel, message, { text: content.text, blocks });
    } else if (reply.response_type === 'in_channel') {
      workspace.post(channel, { ...content, user: author });
    } else {
      const ts = workspace.ids.ts();
      channel.ephemerals.push({ user, message: { ...content, ts, user: author, files: [] } });
    }
  }

  return {
    apply,
    issue(kind, target) {
      const path = `/${kind}/${workspace.teamId}/${workspace.ids.id('')}/${workspace.ids.hex(24)}`;
      issued.set(path, { target, uses: 0 });
      return `${origin()}${path}`;
    },
    handle(path, { body }) {
      const known = issued.get(path);
      if (!known) return undefined;
      if (known.uses++ >= MAX_USES) return json({ ok: false, error: 'used_url' }, 404);
      try {
        apply(body.toString(), known.target);
        return { status: 200, headers: { 'content-type': 'text/html' }, body: 'ok' };
      } catch (error) {
        if (!(error instanceof SlackError)) throw error;
        return json({ ok: false, error: error.code }, 200);
      }
    },
  };
}

function parseReply(body: string): Reply {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : { text: body };
  } catch {
    return { text: body };
  }
}
