import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
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
  pretty: boolean;
  destination?: DestinationStream;
  /** Gets every line, too. It does not change the output. */
  copy?: LogCopy | undefined;
}

/** Writes JSON lines to standard output, or formatted lines with `pretty`. */
export function createLog(options: LogOptions): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  };
  const { destination = outputOf(options), copy } = options;
  if (!copy) return pino(settings, destination);
  return pino(settings, {
    write(line) {
      destination.write(line);
      copy.write(line);
    },
  });
}

function outputOf({ pretty: isPretty }: LogOptions): DestinationStream {
  return isPretty ? pretty({ colorize: true, sync: true }) : pino.destination({ dest: 1, sync: true });
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
