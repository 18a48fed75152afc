import type { AuditAction } from '../audit-actions.ts';
import { ERRORS, type ErrorCode } from '../error-codes.ts';
import { Refusal, refuse } from '../errors.ts';
import type { CallOptions } from './contract.ts';

interface AuditedAction {
  action: AuditAction;
  /** The id of the target; empty when the action has no single target. */
  targetId: string;
  /** Absent: `done`. */
  outcome?: 'done' | 'refused';
  /** Must not contain secrets. */
  data?: Readonly<Record<string, unknown>>;
}

/**
 * Records an action of the call's user before it is performed. Throws DEPENDENCY_UNAVAILABLE, or the code of the failed
 * dependency such as STORAGE_FULL, when it cannot be recorded, and CANCELLED when the caller has left; the caller must then
 * not perform it.
 */
export type AuditRecorder = (action: AuditedAction, call: CallOptions) => Promise<void>;

/** The destination of audit records. The client of the auth service is assignable. */
interface AuditLog {
  recordActs(
    request: {
      acts: { action: string; targetId: string; outcome: string; dataJson: string; address: string }[];
    },
    options: CallOptions,
  ): Promise<unknown>;
}

export function createAuditRecorder(auditLog: AuditLog): AuditRecorder {
  return async ({ action, targetId, outcome = 'done', data = {} }, call) => {
    const act = { action, targetId, outcome, dataJson: JSON.stringify(data), address: '' };
    try {
      await auditLog.recordActs({ acts: [act] }, call);
    } catch (error) {
      throw refuse(
        codeOf(error),
        'The audit log cannot record this action, so it was not performed. Try again.',
        { cause: error },
      );
    }
  };
}

function codeOf(error: unknown): ErrorCode {
  if (!(error instanceof Refusal)) return 'DEPENDENCY_UNAVAILABLE';
  const isKept = error.code === 'CANCELLED' || ERRORS[error.code].category === 'dependency';
  return isKept ? error.code : 'DEPENDENCY_UNAVAILABLE';
}
