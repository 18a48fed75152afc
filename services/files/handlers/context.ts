import type { Clock } from '../../../lib/clock.ts';
import type { Deliverer } from '../deliverer.ts';
import type { Limits } from '../domain/outcome.ts';
import type { Reader } from '../reader.ts';
import type { ReceiverContext } from '../receiver.ts';
import type { Changing } from '../store/changing.ts';
import type { Contents } from '../store/contents.ts';
import type { Fences } from '../store/fences.ts';
import type { Forks } from '../store/forks.ts';
import type { Reads } from '../store/reads.ts';
import type { Locate } from './places.ts';

/** What the handlers work with. */
export interface HandlerContext {
  clock: Clock;
  locate: Locate;
  reads: Reads;
  changing: Changing;
  contents: Contents;
  fences: Fences;
  forks: Forks;
  reader: Reader;
  receiving: ReceiverContext;
  deliverer: Deliverer;
  limits: Limits;
}
