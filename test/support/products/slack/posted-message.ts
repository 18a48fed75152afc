import type { Block } from './blocks.ts';
import type { MessageMetadata, SlackMessage, Workspace } from './workspace.ts';

/** A message as people see it. */
export interface PostedMessage {
  channel: string;
  ts: string;
  threadTs?: string;
  user: string;
  isBot: boolean;
  text: string;
  /** The argument `markdown_text` of the last call. */
  markdown?: string;
  blocks: readonly Block[];
  metadata?: MessageMetadata;
  files: { id: string; name: string; bytes: Buffer }[];
  isEdited: boolean;
  /** The groups of people that the message notifies: `channel`, `here`, `everyone` and `subteam^…`. */
  notifies: string[];
}

const BROADCAST = /<!(channel|here|everyone|subteam\^[A-Z0-9]+)/g;
const LINKED_NAME = /(?<!\w)@(channel|here|everyone)\b/g;

export function viewOf({ app }: Workspace, channel: string, message: SlackMessage): PostedMessage {
  const { ts, threadTs, user, text, markdown, blocks = [], metadata, files, edited, linksNames } = message;
  // Texts of rich text are shown as they are.
  const parsed = blocks.filter(({ type }) => type !== 'rich_text');
  const source = `${text}\n${JSON.stringify(parsed)}`;
  const found = [...source.matchAll(BROADCAST), ...(linksNames ? source.matchAll(LINKED_NAME) : [])];
  return {
    channel,
    ts,
    ...(threadTs && { threadTs }),
    user,
    isBot: user === app.botUser,
    text,
    ...(markdown !== undefined && { markdown }),
    blocks,
    ...(metadata && { metadata }),
    files: files.map(({ id, name, bytes }) => ({ id, name, bytes })),
    isEdited: edited !== undefined,
    notifies: [...new Set(found.map(([, group]) => group ?? ''))],
  };
}
