import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

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

/** Writes JSON lines to standard output, or formatted lines with `pretty`. */
export function createLog(options: {
  level: LogLevel;
  pretty: boolean;
  destination?: DestinationStream;
}): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  };
  if (options.destination) return pino(settings, options.destination);
  return options.pretty ? pino(settings, pretty({ colorize: true, sync: true })) : pino(settings);
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
