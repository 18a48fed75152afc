/**
 * Builds console/dist when it is missing or its sources have changed. Without sources or build tools, an existing build
 * is used. Runs before npm scripts on the Node of the machine; the build itself runs on the Node of the repository.
 *
 *   node scripts/console.mjs           prints one line for a build and one for its failure
 *   node scripts/console.mjs --show    prints the output of the build
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { draftOf, publishDraft, removeDrafts } from './console/output-folders.mjs';
import { builtFrom, digestOf, isBuilt } from './console/source-digest.mjs';
import { runExclusively } from './install/lock.mjs';
import { REQUIRED_NODE } from './install/runtime.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const showsAll = process.argv.includes('--show');
/** The service can start without a console. Tests need one. */
const isStart = process.env.npm_lifecycle_event === 'prestart';

const printLine = (text) => process.stderr.write(`${text}\n`);
const hasTools = () => existsSync(join(root, 'node_modules', 'vite', 'package.json'));

/** Describes the consequence of a failed build for a start. */
function consequence() {
  return isBuilt(root)
    ? 'The previous build is served.'
    : 'The service starts without a console; its API is not affected.';
}

function exitWithError(text) {
  printLine(`\n${text}\n${isStart ? `${consequence()}\n` : ''}`);
  process.exit(isStart ? 0 : 1);
}

/** Builds into a separate folder. Returns whether the build succeeded. */
async function build(digest, onStart) {
  const bundledNode = join(root, 'node_modules', '.bin', 'node');
  const isOld = Number.parseInt(process.versions.node, 10) < REQUIRED_NODE;
  const child = spawn(
    isOld && existsSync(bundledNode) ? bundledNode : process.execPath,
    [join(root, 'scripts/console/build.mjs'), draftOf(root), digest],
    // Always production: packages then omit their development checks.
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

async function buildIfNeeded(onStart) {
  const digest = digestOf(root);
  // The previous holder of the lock may have built it.
  if (builtFrom(root) === digest) return true;
  printLine('Building the console …');
  const startedAt = performance.now();
  removeDrafts(root);
  if (!(await build(digest, onStart))) {
    removeDrafts(root);
    return false;
  }
  publishDraft(root);
  printLine(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  return true;
}

async function main() {
  if (!existsSync(join(root, 'console', 'index.html'))) return;
  if (builtFrom(root) === digestOf(root)) return;
  if (!hasTools()) {
    exitWithError(
      'The console cannot be built because the development packages are not installed. To install them: npm ci --include=dev',
    );
  }
  let isDone;
  try {
    await runExclusively(join(root, '.console.lock'), printLine, async (onStart) => {
      isDone = await buildIfNeeded(onStart);
    });
  } catch (error) {
    exitWithError(`The console could not be built: ${error.message}`);
  }
  if (!isDone)
    exitWithError(
      showsAll
        ? 'The console could not be built.'
        : 'The console could not be built. To see why: npm run console',
    );
}

await main();
