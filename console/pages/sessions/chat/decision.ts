import type { ReactNode } from 'react';
import type { ApprovalDecision } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import type { ApprovalRequest, ToolCall } from '../../../journal/chat.ts';

export type Decision = Omit<ApprovalDecision, 'approvalId'>;

export interface ApprovalProps {
  call: ToolCall;
  approval: ApprovalRequest;
  session: Session;
  mayWrite: boolean;
  /** The whole input is on the page. A call can be allowed only then. */
  isInputShown: boolean;
}

/** Properties of the forms for a decision on a call. */
export interface DecisionProps {
  call: ToolCall;
  approval: ApprovalRequest;
  /** The whole input is on the page. A call can be allowed only then. */
  isInputShown: boolean;
  /** A decision is being sent or was sent. */
  busy: boolean;
  /** Problems of the content that the service has refused, by field. */
  refused: Readonly<Record<string, string>>;
  onDecide: (decision: Decision) => void;
  /** Returns a button that copies the request of a decision. */
  curlOf: (decision: Decision) => ReactNode;
}
