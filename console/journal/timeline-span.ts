export interface TimelineSpan {
  key: string;
  kind: 'queue' | 'step' | 'model' | 'tool' | 'approval' | 'retry' | 'idle' | 'message' | 'compaction';
  name: string;
  /** Sequence number of its first event; undefined for a span without an event. */
  seq: number | undefined;
  /** Unix milliseconds. */
  start: number;
  /** Unix milliseconds; undefined while the span is open. */
  end: number | undefined;
  isError: boolean;
  /** The exit code of a command that did not exit with 0. */
  exitCode: number | undefined;
  /** Additional text, such as token counts. */
  detail: string;
  /** The model request and the calls of a step. */
  children: TimelineSpan[];
}

/** Returns an open span. */
export function newSpan(
  key: string,
  kind: TimelineSpan['kind'],
  name: string,
  seq: number | undefined,
  start: number,
): TimelineSpan {
  return {
    ...{ key, kind, name, seq, start },
    ...{ end: undefined, isError: false, exitCode: undefined, detail: '', children: [] },
  };
}
