import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogCopy } from './log-copy.ts';

export type Log = Logger;
type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Members that can hold a secret, up to two levels deep in a logged object. */
const SECRET = [
  'authorization',
  'cookie',
  'shared_secret',
  'sharedSecret',
  'secret',
  'token',
  'password',
  'passport',
  'service_token',
  'serviceToken',
  'api_key',
];

interface LogOptions {
  level: LogLevel;
  /** Standard output by default. */
  destination?: DestinationStream | undefined;
  /** Gets every line, too. It does not change the output. */
  copy?: LogCopy | undefined;
}

/** Returns a destination that formats the lines for a terminal. Loads the formatter, which other processes do not need. */
export async function prettyDestination(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ colorize: true, sync: true });
}

/** Writes JSON lines. */
export function createLog(options: LogOptions): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  };
  const { destination = pino.destination({ dest: 1, sync: true }), copy } = options;
  if (!copy) return pino(settings, destination);
  return pino(settings, {
    write(line) {
      destination.write(line);
      copy.write(line);
    },
  });
}

/** Returns the members of an error that may be logged. Drivers attach connections, statements and values to theirs. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return {
    type: name,
    message,
    code,
    stack,
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}
