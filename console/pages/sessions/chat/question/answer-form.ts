import type { ReactNode } from 'react';
import type { ToolResult } from '../../../../api/sessions.ts';

/** Properties of the forms that answer a call. */
export interface AnswerFormProps {
  /** An answer is being sent or was sent. */
  busy: boolean;
  onAnswer: (result: ToolResult) => void;
  /** Returns a button that copies the request of an answer. */
  curlOf: (result: object) => ReactNode;
}
