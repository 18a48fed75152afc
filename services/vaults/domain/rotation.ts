import { type Refusal, refuse } from '../../../lib/errors.ts';

/** A rotation of keys. The numbers count data keys, or credentials for a rotation of one vault. */
export interface Rotation {
  rotationId: string;
  /** Empty: the data keys of all vaults are wrapped again. */
  vaultId: string;
  status: 'running' | 'done' | 'failed';
  done: number;
  total: number;
  startedAt: Date;
  finishedAt: Date | undefined;
}

/** A running rotation, as its worker sees it. */
export interface RunningRotation {
  rotationId: string;
  vaultId: string;
  /** The last processed data key or credential of the current pass; empty at its start. */
  cursor: string;
  /** The generation of the new data key of a rotation of one vault; undefined before it exists. */
  toGeneration: number | undefined;
}

/** A rotation fails if data keys or credentials could not be opened. They keep their former keys. */
export function outcomeOf(failed: number): 'done' | 'failed' {
  return failed > 0 ? 'failed' : 'done';
}

export function rotationNotFound(): Refusal {
  return refuse('ROTATION_NOT_FOUND', 'Unknown rotation.');
}
