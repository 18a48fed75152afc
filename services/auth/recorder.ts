import type { Clock } from '../../lib/clock.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import type { Recorder } from '../../lib/grpc/recorder.ts';
import type { Trace } from '../../lib/trace.ts';
import type { NewAct as Given } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { ActStore, NewAct } from './store/acts.ts';

/** What is written down of an act: who did it, from where, and when. */
export function actOf(given: Given, { caller, requestId = '' }: Call, createdAt: Date): NewAct {
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

/** Writes down what this service itself is about to do. */
export function createRecorder(acts: ActStore, clock: Clock): Recorder {
  return async ({ action, targetId, data = {} }, call) => {
    const given = { action, targetId, outcome: 'done', dataJson: JSON.stringify(data), address: '' };
    await acts.add([actOf(given, call, clock.now())], call);
  };
}

/** Writes down that a login begins or has ended: then nobody is the caller yet, or any more. */
export type NoteLogin = (
  login: { action: 'login.begin' | 'login.end'; userId: string; loginId: string; address: string },
  options: { trace?: Trace; requestId?: string | undefined },
) => Promise<void>;

export function createLoginNotes(acts: ActStore, clock: Clock): NoteLogin {
  return ({ action, userId, loginId, address }, { trace, requestId = '' }) => {
    const act = { action, actorId: userId, credential: loginId, targetId: loginId, address, requestId };
    return acts.add([{ ...act, outcome: 'done', dataJson: '{}', createdAt: clock.now() }], { trace });
  };
}
