import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type Log = Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Members that may hold a secret, wherever they stand in a logged object. */
const SECRET = [
  'authorization',
  'cookie',
  'shared_secret',
  'sharedSecret',
  'secret',
  'token',
  'password',
  'passport',
  'api_key',
];

/** JSON lines on standard output; readable ones when a person is watching. */
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

/** What of an error may be written down. Drivers hang connections, statements and values on theirs. */
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
