/**
 * Builds console/dist when it is missing or was made from other sources than those that are here, and does nothing
 * otherwise. Where there are no sources, or no tools to build them with, the console that is there has to do.
 * Runs before npm scripts, on whatever Node the machine has; the build itself runs on ours.
 *
 *   node scripts/console.mjs           one line about a build, and one about its failure
 *   node scripts/console.mjs --show    with all that the build says
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, isBuilt, madeFrom } from './console/made.mjs';
import { discard, draftOf, putInPlace } from './console/place.mjs';
import { alone } from './install/lock.mjs';
import { NEEDED } from './install/runtime.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const showsAll = process.argv.includes('--show');
/** A service without a console is of use; tests of one that is not there are not. */
const isStart = process.env.npm_lifecycle_event === 'prestart';

const say = (text) => process.stderr.write(`${text}\n`);
const hasTools = () => existsSync(join(root, 'node_modules', 'vite', 'package.json'));

/** What is served without a build. */
function instead() {
  return isBuilt(root)
    ? 'The one that was built before is served.'
    : 'The service does without: its API is not affected.';
}

function giveUp(text) {
  say(`\n${text}\n${isStart ? `${instead()}\n` : ''}`);
  process.exit(isStart ? 0 : 1);
}

/** Builds beside what is served. Gives whether it could. */
async function build(digest, onStart) {
  const own = join(root, 'node_modules', '.bin', 'node');
  const isOld = Number.parseInt(process.versions.node, 10) < NEEDED;
  const child = spawn(
    isOld && existsSync(own) ? own : process.execPath,
    [join(root, 'scripts/console/build.mjs'), draftOf(root), digest],
    // Whatever it is elsewhere: packages leave their checks for developers out by it.
    {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', ...(showsAll ? [2, 2] : ['ignore', 'ignore'])],
    },
  );
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', resolve);
  });
  if (child.pid) onStart(child);
  return (await ended) === 0;
}

async function buildAlone(onStart) {
  const digest = digestOf(root);
  // Whoever held the lock before has perhaps built it.
  if (madeFrom(root) === digest) return true;
  say('Building the console …');
  const startedAt = performance.now();
  discard(root);
  if (!(await build(digest, onStart))) {
    discard(root);
    return false;
  }
  putInPlace(root);
  say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  return true;
}

async function main() {
  if (!existsSync(join(root, 'console', 'index.html'))) return;
  if (madeFrom(root) === digestOf(root)) return;
  if (!hasTools()) {
    giveUp(
      'The console cannot be built, as the tools of developers are not installed. To install them: npm ci --include=dev',
    );
  }
  let isDone;
  try {
    await alone(join(root, '.console.lock'), say, async (onStart) => {
      isDone = await buildAlone(onStart);
    });
  } catch (error) {
    giveUp(`The console could not be built: ${error.message}`);
  }
  if (!isDone)
    giveUp(
      showsAll
        ? 'The console could not be built.'
        : 'The console could not be built. To see why: npm run console',
    );
}

await main();
