import { type Clock, systemClock } from '../../lib/clock.ts';
import type { SettingProblem } from '../../lib/env.ts';
import type { GrpcTls } from '../../lib/grpc/tls.ts';
import { checkTlsFiles, readTlsFiles, type TlsPaths } from '../../lib/grpc/tls-files.ts';
import type { Log } from '../../lib/log.ts';
import type { ProcessConfig } from './process-config.ts';
import { modulesOf, SERVICES_CALLED_BY } from './target.ts';

const VARIABLES: Record<keyof TlsPaths, string> = {
  cert: 'SERVICE_GRPC_TLS_CERT',
  key: 'SERVICE_GRPC_TLS_KEY',
  ca: 'SERVICE_GRPC_TLS_CA',
};
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\]):\d+$/i;

/** Returns the problems of the TLS files that are set. In target all, no call leaves the process. */
export async function checkTls(config: ProcessConfig): Promise<SettingProblem[]> {
  const { grpcTlsCert: cert, grpcTlsKey: key, grpcTlsCa: ca } = config.common;
  if (config.target === 'all') return [];
  const paths = { cert, key, ca };
  const files = await readTlsFiles({ cert: cert ?? '', key: key ?? '', ca: ca ?? '' });
  const checked = checkTlsFiles(files, systemClock.now());
  if (!Array.isArray(checked)) return [];
  return checked
    .filter(({ file }) => paths[file] !== undefined)
    .map(({ file, problem, expected, fix }) => ({
      variable: VARIABLES[file],
      problem: `("${paths[file]}") ${problem}`,
      expected,
      fix,
    }));
}

/** Opens TLS if it is configured. Loads it only then, because loading takes time. */
export async function openProcessTls(
  config: ProcessConfig,
  { clock, log }: { clock: Clock; log: Log },
): Promise<GrpcTls | undefined> {
  const paths = tlsPathsOf(config);
  if (!paths) return undefined;
  const { openTls } = await import('../../lib/grpc/tls.ts');
  return openTls({ paths, clock, log });
}

/** Returns a warning when calls between processes leave this machine without encryption. */
export function plaintextWarning(config: ProcessConfig): string | undefined {
  const { target, common } = config;
  if (target === 'all' || tlsPathsOf(config)) return undefined;
  const services = new Set(modulesOf(target).flatMap((name) => SERVICES_CALLED_BY[name]));
  const called = [...services].flatMap((service) => common[`${service}Address`]?.split(',') ?? []);
  const parts = [
    ...(isLocal(common.grpcListen) ? [] : [`listens on ${common.grpcListen}`]),
    ...called.filter((address) => !isLocal(address)).map((address) => `calls ${address}`),
  ];
  if (parts.length === 0) return undefined;
  return (
    `Calls between services are not encrypted: this process ${parts.join(', ')}. ` +
    `To encrypt them, set ${Object.values(VARIABLES).join(', ')}.`
  );
}

/** The paths, if all are set and used. */
function tlsPathsOf({ target, common }: ProcessConfig): TlsPaths | undefined {
  const { grpcTlsCert: cert, grpcTlsKey: key, grpcTlsCa: ca } = common;
  if (target === 'all' || cert === undefined || key === undefined || ca === undefined) return undefined;
  return { cert, key, ca };
}

function isLocal(address: string): boolean {
  return LOOPBACK.test(address);
}
