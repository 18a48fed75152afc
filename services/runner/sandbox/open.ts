import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { DirectoryProblem } from '../../../lib/directory.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { Providers } from '../sandboxes/providers.ts';
import { openBubblewrap } from './bubblewrap/open.ts';
import { internet } from './network/gate.ts';
import { Ground } from './place.ts';
import { simulatedProvider } from './simulated/provider.ts';

export interface SandboxSettings {
  /** Where sandboxes have their files. This process alone uses it; it is made when it is missing. */
  directory: string;
  firstUid: number;
  /** Directories of this machine that commands may read beside its system. */
  shown: readonly string[];
  /** What they may never, wherever it lies. */
  hidden: readonly string[];
}

/** The root of what is running here. */
const SERVICE = resolve(import.meta.dirname, '../../..');

/** The providers that work on this machine, the strongest first, and why the others do not. */
export async function openProviders(
  { directory, ...settings }: SandboxSettings,
  { clock, ids, log }: { clock: Clock; ids: Ids; log: Log },
): Promise<Providers> {
  keepToOneself(directory);
  const hidden = [SERVICE, directory, ...settings.hidden];
  const bubblewrap = await openBubblewrap({
    ...settings,
    hidden,
    directory: join(directory, 'bubblewrap'),
    clock,
    ids,
    log,
    outside: internet,
  });
  const simulated = simulatedProvider({
    ground: new Ground(join(directory, 'simulated')),
    clock,
    isExpected: 'reason' in bubblewrap,
  });
  if ('reason' in bubblewrap) return { has: [simulated], lacks: [{ name: 'bubblewrap', ...bubblewrap }] };
  return { has: [bubblewrap.provider, simulated], lacks: [] };
}

/** One that somebody else has made, or could enter, would let them into every sandbox. Throws DirectoryProblem. */
function keepToOneself(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(directory);
  const own = process.getuid?.();
  if (own === undefined || (uid === own && (mode & 0o022) === 0)) return;
  throw new DirectoryProblem(
    directory,
    "is not only this user's to write, and no place for sandboxes",
    'a directory that belongs to this user, and that nobody else may write',
    `chown it to this user and chmod go-w it, or remove it`,
  );
}
