import type { PostRules } from '../products/product.ts';
import type { RenderOptions } from './render-options.ts';
import { codeBlock, inlineCode } from './texts.ts';
import type { ApprovalView, TurnView } from './turn-view.ts';
import type { WantedPost } from './wanted-post.ts';

/** A longer input is not shown whole and can be allowed in the console alone. */
const MAX_INPUT_CHARACTERS = 2_500;

/** The question whether a tool may run, with its exact input, and afterwards the decision. */
export function approvalPost(
  turn: TurnView,
  approval: ApprovalView,
  { rules, consoleUrl, nameOf }: RenderOptions,
): WantedPost {
  const inputJson = inputOf(turn, approval);
  const decision = decisionOf(turn, approval);
  const decidedBy = decision === 'expired' || decision === '' ? '' : deciderOf(approval, nameOf);
  const isShort = inputJson.length <= MAX_INPUT_CHARACTERS;
  const write = (input: string, canAllow: boolean) =>
    rules.disarm(
      [
        `The agent asks to run ${inlineCode(approval.toolName)}.`,
        codeBlock(input, 'json'),
        outcome(decision, decidedBy) ??
          (canAllow ? '' : `[Allow it in the console](${consoleUrl}), which shows the whole input.`),
      ]
        .filter(Boolean)
        .join('\n'),
    );
  const whole = write(inputJson, true);
  const canAllow = isShort && rules.lengthOf(whole) <= rules.maxLength;
  const shown = canAllow ? inputJson : cutInput(inputJson, rules, (input) => write(input, false));
  return {
    turnId: turn.turnId,
    kind: 'approval',
    part: 0,
    key: approval.approvalId,
    isFinal: decision !== '',
    markdown: canAllow ? whole : write(shown, false),
    approval: {
      approvalId: approval.approvalId,
      tool: approval.toolName,
      inputJson: shown,
      canAllow,
      decision,
      decidedBy,
      consoleUrl,
    },
  };
}

/** Calls that share the approval are shown as an array. */
function inputOf(turn: TurnView, { toolUseIds }: ApprovalView): string {
  const inputs = turn.tools
    .filter(({ toolUseId }) => toolUseIds.includes(toolUseId))
    .map(({ input }) => input);
  return JSON.stringify(inputs.length === 1 ? inputs[0] : inputs, null, 2) ?? '';
}

/** An approval of a turn that has ended without a decision is void. */
function decisionOf({ status }: TurnView, { decision }: ApprovalView): string {
  if (decision === undefined) return status === 'ended' ? 'expired' : '';
  return decision === 'allow' ? 'allowed' : decision === 'deny' ? 'denied' : 'expired';
}

function deciderOf({ via }: ApprovalView, nameOf: RenderOptions['nameOf']): string {
  if (via === '') return 'a user of the console';
  return nameOf(via) ?? via.slice(via.indexOf(':') + 1);
}

function outcome(decision: string, decidedBy: string): string | undefined {
  if (decision === '') return undefined;
  if (decision === 'expired') return 'No decision was made in time.';
  return `${decision === 'allowed' ? 'Allowed' : 'Denied'} by ${decidedBy}.`;
}

/** Returns the longest beginning of the input with which the post fits. */
function cutInput(
  inputJson: string,
  { maxLength, lengthOf }: Pick<PostRules, 'maxLength' | 'lengthOf'>,
  write: (input: string) => string,
): string {
  let length = Math.min(inputJson.length, MAX_INPUT_CHARACTERS);
  const cut = () => `${inputJson.slice(0, length)} …`;
  while (length > 0 && lengthOf(write(cut())) > maxLength) length = Math.floor(length * 0.8);
  return cut();
}
