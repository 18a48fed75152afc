import type { ActName } from '../acts.ts';
import { refuse } from '../errors.ts';
import type { Call, CallOptions } from './contract.ts';

export interface NewAct {
  action: ActName;
  /** The id of what it is done to; empty for nothing in particular. */
  targetId: string;
  /** Without secrets. */
  data?: Readonly<Record<string, unknown>>;
}

/**
 * Writes an act of the call's user down before it is done. Refused with DEPENDENCY_UNAVAILABLE when that is not
 * possible: then it must not be done.
 */
export type Recorder = (act: NewAct, call: Call) => Promise<void>;

/** Where acts are written down: the client of auth fits. */
export interface Ledger {
  recordActs(
    request: {
      acts: { action: string; targetId: string; outcome: string; dataJson: string; address: string }[];
    },
    options: CallOptions,
  ): Promise<unknown>;
}

export function recorderTo(ledger: Ledger): Recorder {
  return async ({ action, targetId, data = {} }, call) => {
    const act = { action, targetId, outcome: 'done', dataJson: JSON.stringify(data), address: '' };
    try {
      await ledger.recordActs({ acts: [act] }, call);
    } catch (error) {
      throw refuse(
        'DEPENDENCY_UNAVAILABLE',
        'this cannot be written down in the audit log, so it is not done',
        {
          cause: error,
        },
      );
    }
  };
}
