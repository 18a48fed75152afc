import { systemClock } from '../../lib/clock.ts';
import type { LockedDirectory } from '../../lib/directory.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { createLog, prettyDestination } from '../../lib/log.ts';
import { LogCopy } from '../../lib/log-copy.ts';
import { type Backend, ModuleManager } from '../../lib/modules.ts';
import { allowedOriginsWarning } from './allowed-origins.ts';
import { banner, problemScreen } from './console-output.ts';
import { openInfrastructure } from './infrastructure.ts';
import { disableCoreDumps, holdsSecrets, snapshotProblems } from './memory-protection.ts';
import { openModules } from './open.ts';
import { preflight } from './preflight.ts';
import { type ProcessConfig, readProcessConfig } from './process-config.ts';
import { readTarget } from './target.ts';
import { exportsLogs } from './telemetry-config.ts';
import { plaintextWarning } from './tls.ts';
import { letYoungGenerationGrow, limitYoungGeneration } from './young-generation.ts';

/** The process exits at most this long after a stop signal, even if a module hangs. */
const STOP_LIMIT_MS = 4_800;

/** Runs the program until it exits. */
export async function main(): Promise<void> {
  // Diagnostic reports would contain the secrets of the environment.
  if (process.report) process.report.excludeEnv = true;

  const problems: SettingProblem[] = [];
  const target = readTarget(process.argv.slice(2), problems);
  // One process with all modules needs the memory only once, and its load reaches the full size at once.
  if (target !== 'all') limitYoungGeneration();
  // biome-ignore lint/style/noProcessEnv: the only place that reads the environment
  const config = readProcessConfig(target ?? 'all', process.env, problems);
  if (target && holdsSecrets(target)) {
    // biome-ignore lint/style/noProcessEnv: the options of Node are no settings of the service
    const options = { execArgv: process.execArgv, nodeOptions: process.env.NODE_OPTIONS };
    problems.push(...snapshotProblems(options, config.common.authMode === 'oidc'));
  }
  const directory = target && (await preflight(config, problems));
  if (problems.length > 0) {
    process.stderr.write(problemScreen(problems));
    process.exit(1);
  }
  await run(config, directory);
}

/** A runner in a process of its own has no banner. Its log names the sandbox provider in force. */
function sandboxIn({ backends }: { backends: readonly Backend[] }) {
  const sandbox = backends.find(({ role }) => role === 'sandbox');
  return sandbox && { sandbox: sandbox.description };
}

async function run(config: ProcessConfig, directory: LockedDirectory | undefined): Promise<void> {
  const destination = process.stdout.isTTY ? await prettyDestination() : undefined;
  const copy = exportsLogs(config.common) ? new LogCopy() : undefined;
  const log = createLog({ level: config.common.logLevel, destination, copy });
  const modules = new ModuleManager(systemClock, (message, error) => log.warn({ err: error }, message));
  let stopping = false;
  const coreDumpWarning = holdsSecrets(config.target) ? disableCoreDumps() : undefined;

  async function exit(code: number): Promise<never> {
    if (!stopping) {
      stopping = true;
      setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
      await modules.stop();
      await directory?.release();
      process.exit(code);
    }
    return new Promise(() => {});
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!stopping) log.info({ signal }, 'stopping');
      void exit(0);
    });
  }

  try {
    const infrastructure = await openInfrastructure(config, modules, log, directory?.path, copy);
    const warnings = [plaintextWarning(config), allowedOriginsWarning(config), await coreDumpWarning].filter(
      (warning) => warning !== undefined,
    );
    const url = await openModules(config, modules, infrastructure);
    // A channel worker waits for products most of the time, and its idle connections would keep the memory of busy moments.
    if (config.target !== 'channels') letYoungGenerationGrow();
    const isTeam = config.common.authMode === 'oidc';
    const facts = { dataDir: directory?.path, backends: infrastructure.backends, isTeam };
    if (url) process.stdout.write(banner({ url, ...facts, warnings }));
    else {
      log.info({ target: config.target, listen: config.common.grpcListen, ...sandboxIn(facts) }, 'serving');
      for (const warning of warnings) log.warn(warning);
    }
  } catch (error) {
    const { asProblem } = await import('./failure.ts');
    const problem = asProblem(error);
    if (problem) process.stderr.write(problemScreen([problem]));
    else if (!stopping) log.fatal({ err: error }, 'start-up failed');
    await exit(1);
  }
}
