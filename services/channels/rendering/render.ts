import { approvalPost } from './approval-post.ts';
import type { RenderOptions } from './render-options.ts';
import { splitMarkdown } from './split-markdown.ts';
import {
  approvalNotice,
  CONTINUES,
  endNotice,
  IN_FILE,
  inlineCode,
  largeFileNotice,
  toolCallNotice,
} from './texts.ts';
import { isAtRest, type TurnView } from './turn-view.ts';
import type { WantedPost } from './wanted-post.ts';

/**
 * Returns the posts of a turn in their order: the answer, approvals, files, and a notice when the turn waits or has ended
 * without an answer. A pure function: the posts depend on the turn alone and not on what was shown before.
 */
export function renderTurn(turn: TurnView, options: RenderOptions): WantedPost[] {
  return [
    ...answerPosts(turn, options),
    ...turn.approvals.filter(({ kind }) => kind === 'tool').map((one) => approvalPost(turn, one, options)),
    ...(turn.status === 'ended' && options.filesOut ? filePosts(turn, options) : []),
    ...noticePosts(turn, options),
  ];
}

function answerPosts(turn: TurnView, options: RenderOptions): WantedPost[] {
  const { rules, edits } = options;
  const isFinal = isAtRest(turn);
  if (!isFinal && edits === 'final_only') return [];
  const answer = rules.disarm(answerOf(turn));
  const status = statusLine(turn, options);
  const markdown = [answer, status].filter(Boolean).join('\n\n');
  const parts = splitMarkdown(markdown, rules.maxLength, rules.lengthOf);
  const post = (text: string, part: number): WantedPost => ({
    ...{ turnId: turn.turnId, kind: 'message', part, key: '' },
    ...{ markdown: text, isFinal },
  });
  if (parts.length <= rules.maxParts) return parts.map(post);
  const isOver = turn.status === 'ended';
  const suffix = isOver ? IN_FILE : CONTINUES;
  const room = rules.maxLength - rules.lengthOf(`\n\n${suffix}`);
  const [beginning = ''] = splitMarkdown(answer, room, rules.lengthOf);
  const head = post(`${beginning}\n\n${suffix}`, 0);
  return isOver ? [head, answerFile(turn, options)] : [head];
}

/** The texts of all steps. */
function answerOf({ texts }: TurnView): string {
  return texts
    .map(({ text }) => text.trim())
    .filter(Boolean)
    .join('\n\n');
}

/** The answer as the model wrote it, because a file notifies no one. */
function answerFile(turn: TurnView, { digest }: RenderOptions): WantedPost {
  const content = answerOf(turn);
  const sha256 = digest(content);
  const path = 'answer.md';
  const file = { path, sha256, size: Buffer.byteLength(content), version: 0 };
  return { turnId: turn.turnId, kind: 'file', part: 0, key: fileKey(file), isFinal: true, file, content };
}

function statusLine(turn: TurnView, { showTools }: RenderOptions): string {
  const tools = turn.tools.filter(({ kind }) => kind === undefined);
  if (showTools === 'list' && tools.length > 0) {
    const shown = tools
      .slice(-MAX_LISTED_TOOLS)
      .map(({ name, state }) => `${inlineCode(name)} ${MARKS[state]}`);
    const omitted = tools.length > shown.length ? '… ' : '';
    return `Tools: ${omitted}${shown.join(', ')}`;
  }
  if (showTools !== 'status' || turn.status !== 'running') return '';
  const undecided = turn.approvals.filter(({ decision }) => decision === undefined);
  const waiting = new Set(undecided.flatMap(({ toolUseIds }) => toolUseIds));
  const running = tools.findLast(({ state, toolUseId }) => state === 'open' && !waiting.has(toolUseId));
  return running ? `_Running_ ${inlineCode(running.name)} …` : '';
}

const MAX_LISTED_TOOLS = 20;
const MARKS = { open: '…', done: '✓', failed: '✗' };

function filePosts(
  { turnId, files }: TurnView,
  { maxFileBytes, consoleUrl, rules }: RenderOptions,
): WantedPost[] {
  return Array.from(files.values(), (file): WantedPost => {
    const identity = { turnId, part: 0, key: fileKey(file), isFinal: true };
    if (file.size <= maxFileBytes) return { ...identity, kind: 'file', file, content: undefined };
    return { ...identity, kind: 'notice', markdown: rules.disarm(largeFileNotice(file, consoleUrl)) };
  });
}

function fileKey({ path, sha256 }: { path: string; sha256: string }): string {
  return `${path} ${sha256}`;
}

function noticePosts(turn: TurnView, { rules, consoleUrl }: RenderOptions): WantedPost[] {
  const notice = (key: string, text: string, isFinal: boolean): WantedPost => ({
    ...{ turnId: turn.turnId, kind: 'notice', part: 0, key, isFinal },
    markdown: splitMarkdown(rules.disarm(text), rules.maxLength, rules.lengthOf)[0] ?? '',
  });
  const end = turn.end && endNotice(turn.end, consoleUrl);
  const isOver = turn.status === 'ended';
  return [
    ...turn.approvals
      .filter(({ kind }) => kind !== 'tool')
      .map((one) => {
        const shown = isOver ? { ...one, decision: one.decision ?? 'expired' } : one;
        return notice(one.approvalId, approvalNotice(shown, consoleUrl), shown.decision !== undefined);
      }),
    ...turn.tools
      .filter(({ kind }) => kind !== undefined)
      .map((one) => {
        const shown = isOver && one.state === 'open' ? { ...one, state: 'done' as const } : one;
        return notice(one.toolUseId, toolCallNotice(shown, consoleUrl), shown.state !== 'open');
      }),
    ...(end === undefined ? [] : [notice('end', end, true)]),
  ];
}
