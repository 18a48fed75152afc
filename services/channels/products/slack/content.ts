import type { PostApproval } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { ProductPost } from '../product.ts';
import { escapeText } from './mrkdwn.ts';

/** The content of a message in the arguments of `chat.postMessage` and `chat.update`. Markdown excludes the others. */
export type SlackContent = { markdown_text: string } | { text: string; blocks: SlackBlock[] };

interface RichTextElement {
  type: 'text' | 'link';
  text: string;
  url?: string;
  style?: { bold?: true; code?: true };
}

interface RichTextPart {
  type: 'rich_text_section' | 'rich_text_preformatted';
  elements: RichTextElement[];
}

interface Button {
  type: 'button';
  action_id: 'allow' | 'deny' | 'console';
  text: { type: 'plain_text'; text: string };
  value?: string;
  url?: string;
  style?: 'primary' | 'danger';
}

export type SlackBlock =
  | { type: 'rich_text'; elements: RichTextPart[] }
  | { type: 'actions'; elements: Button[] };

/** Messages of an approval keep their blocks in each edit, others their Markdown. */
export function contentOf({ approval, markdown }: Pick<ProductPost, 'approval' | 'markdown'>): SlackContent {
  if (approval) return { text: summaryOf(approval), blocks: approvalBlocks(approval) };
  // An empty text is refused.
  return { markdown_text: markdown.trim() === '' ? '…' : markdown };
}

/** Texts of rich text are shown exactly as they are: they contain no markup, escapes or mentions. */
function approvalBlocks(approval: PostApproval): SlackBlock[] {
  const { tool, inputJson, decision, canAllow, consoleUrl } = approval;
  const parts: RichTextPart[] = [
    section(text('The agent asks to run '), { type: 'text', text: tool || 'a tool', style: { code: true } }),
    { type: 'rich_text_preformatted', elements: [text(inputJson || '{}')] },
  ];
  if (decision !== '') {
    return [{ type: 'rich_text', elements: [...parts, section(text(outcomeOf(approval)))] }];
  }
  if (!canAllow)
    parts.push(
      section(text('The input is not shown whole here, so it can be allowed in the console alone.')),
    );
  const buttons = [canAllow ? allowButton(approval) : consoleButton(consoleUrl), denyButton(approval)];
  return [
    { type: 'rich_text', elements: parts },
    { type: 'actions', elements: buttons.filter((button) => button !== undefined) },
  ];
}

/** The text of notifications, which also devices without blocks show. */
function summaryOf(approval: PostApproval): string {
  const request = `The agent asks to run ${approval.tool || 'a tool'}.`;
  const whole = approval.decision === '' ? request : `${request} ${outcomeOf(approval)}`;
  return escapeText(whole.slice(0, 300).toWellFormed());
}

const OUTCOMES: Readonly<Record<string, string>> = { allowed: 'Allowed', denied: 'Denied' };

function outcomeOf({ decision, decidedBy }: PostApproval): string {
  const outcome = OUTCOMES[decision];
  if (!outcome) return 'No decision was made in time.';
  return decidedBy === '' ? `${outcome}.` : `${outcome} by ${decidedBy}.`;
}

const section = (...elements: RichTextElement[]): RichTextPart => ({ type: 'rich_text_section', elements });
const text = (content: string): RichTextElement => ({ type: 'text', text: content });
const label = (content: string) => ({ type: 'plain_text', text: content }) as const;

function allowButton({ approvalId }: PostApproval): Button {
  const type = 'button';
  return { type, action_id: 'allow', text: label('Allow'), value: approvalId, style: 'primary' };
}

function denyButton({ approvalId }: PostApproval): Button {
  return { type: 'button', action_id: 'deny', text: label('Deny'), value: approvalId, style: 'danger' };
}

/** A click opens the page. Slack also sends it as an event, which has no decision and is ignored. */
function consoleButton(url: string): Button | undefined {
  if (!URL.canParse(url)) return undefined;
  return { type: 'button', action_id: 'console', text: label('Open the console'), url };
}
