import { isId } from '../../../../lib/ids.ts';

/** Returns the approval of a click on Allow or Deny; undefined for a button of something else. */
export function decisionOf(decision: string, approvalId: string) {
  if ((decision !== 'allow' && decision !== 'deny') || !isId('apr', approvalId)) return undefined;
  return { decision, approvalId };
}

/** Reads `allow:apr_…` or `deny:apr_…`, for products whose buttons have one text. */
export function decisionInText(text: string) {
  const [decision = '', approvalId = ''] = text.split(':');
  return decisionOf(decision, approvalId);
}
