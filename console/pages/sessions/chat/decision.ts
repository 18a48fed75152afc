import type { ReactNode } from 'react';
import type { ApprovalDecision } from '../../../api/sessions.ts';
import type { ToolCall } from '../../../journal/chat.ts';

export type Decision = Omit<ApprovalDecision, 'approvalId'>;

/** Properties of the forms for a decision on a call. */
export interface DecisionProps {
  call: ToolCall;
  /** The whole input is on the page. A call can be allowed only then. */
  isInputShown: boolean;
  /** A decision is being sent or was sent. */
  busy: boolean;
  onDecide: (decision: Decision) => void;
  /** Returns a button that copies the request of a decision. */
  curlOf: (decision: Decision) => ReactNode;
}
