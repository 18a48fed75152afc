import type { CallDecision } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { AuthorizationDetails, InputAnswer } from '../tool-calls/tool-call.ts';

/** Returns the result for the model when a person did not provide the credential. */
export function authorizationRefusal({
  decision,
  reason,
  detailsJson = '{}',
}: CallDecision): string | undefined {
  const { name } = JSON.parse(detailsJson) as Partial<AuthorizationDetails>;
  const refusal = `No access to ${name ?? 'the server'}`;
  if (decision === 'deny') return `${refusal}: ${reason || 'a person decided to go on without it.'}`;
  if (decision === 'expired') return `${refusal}: the request for it expired.`;
  return undefined;
}

/** Returns the answer of a person for the tool. Undefined when the tool has not asked for input. */
export function inputAnswer(answer: CallDecision | undefined): InputAnswer | undefined {
  const decision = INPUT_DECISIONS.find((one) => one === answer?.decision);
  if (!answer || !decision) return undefined;
  const { contentJson, state = new Uint8Array() } = answer;
  return { decision, state, ...(contentJson !== undefined && { content: JSON.parse(contentJson) }) };
}

const INPUT_DECISIONS: readonly InputAnswer['decision'][] = ['accept', 'decline', 'cancel', 'expired'];
