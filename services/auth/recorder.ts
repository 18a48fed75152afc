import type { Clock } from '../../lib/clock.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import type { Recorder } from '../../lib/grpc/recorder.ts';
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
