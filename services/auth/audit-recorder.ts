import type { Clock } from '../../lib/clock.ts';
import type { AuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { Trace } from '../../lib/trace.ts';
import type { NewAct as ReportedAction } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { AuditStore, NewAuditEntry } from './store/audit.ts';

/** Adds actor, address and time to a reported action. */
export function auditEntryOf(
  given: ReportedAction,
  { caller, requestId = '' }: CallOptions,
  createdAt: Date,
): NewAuditEntry {
  const { action, targetId, outcome, dataJson } = given;
  return {
    createdAt,
    actorId: caller?.userId ?? '',
    credential: caller?.credential ?? '',
    action,
    targetId,
    outcome,
    address: caller ? (caller.address ?? '') : given.address,
    requestId,
    dataJson: dataJson || '{}',
  };
}

/** Records the actions of this service. */
export function createRecorder(audit: AuditStore, clock: Clock): AuditRecorder {
  return async ({ action, targetId, outcome = 'done', data = {} }, call) => {
    const given = { action, targetId, outcome, dataJson: JSON.stringify(data), address: '' };
    await audit.add([auditEntryOf(given, call, clock.now())], call);
  };
}

/** Records the start and the end of a login. These calls have no caller. */
export type LoginAuditor = (
  login: { action: 'login.begin' | 'login.end'; userId: string; loginId: string; address: string },
  options: { trace?: Trace; requestId?: string | undefined },
) => Promise<void>;

export function createLoginAuditor(audit: AuditStore, clock: Clock): LoginAuditor {
  return ({ action, userId, loginId, address }, { trace, requestId = '' }) => {
    const entry = { action, actorId: userId, credential: loginId, targetId: loginId, address, requestId };
    return audit.add([{ ...entry, outcome: 'done', dataJson: '{}', createdAt: clock.now() }], { trace });
  };
}
