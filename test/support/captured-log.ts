import { Writable } from 'node:stream';
import { createLog } from '../../lib/log.ts';

type LogLine = Record<string, unknown> & { level: string; msg: string };

/** A log that keeps its lines as parsed JSON. */
export function captureLog() {
  const lines: LogLine[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(
        ...String(chunk)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as LogLine),
      );
      done();
    },
  });
  return { log: createLog({ level: 'warn', destination }), lines };
}
