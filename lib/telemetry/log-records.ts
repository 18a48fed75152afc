import {
  type AnyValue,
  type Attributes,
  type Context,
  type Logger,
  ROOT_CONTEXT,
  SeverityNumber,
  TraceFlags,
  trace,
} from '@opentelemetry/api';

const SEVERITIES: Record<string, SeverityNumber> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Returns a function that emits a JSON line of the log as a log record. */
export function recordLogs(logger: Logger): (line: string) => void {
  return (text) => {
    const { time, level, msg, err, trace_id, span_id, ...fields } = JSON.parse(text) as Line;
    const context = contextOf(trace_id, span_id);
    logger.emit({
      timestamp: new Date(time),
      severityNumber: SEVERITIES[level] ?? SeverityNumber.UNSPECIFIED,
      severityText: level,
      body: msg,
      attributes: {
        ...(fields as Attributes),
        ...exceptionAttributes(err),
        // A record refers to a span or to no trace at all.
        ...(!context && trace_id !== undefined && { trace_id }),
      },
      ...(context && { context }),
    });
  };
}

/** A line that the log has written. */
interface Line {
  time: string;
  level: string;
  msg?: string;
  err?: LoggedError;
  trace_id?: string;
  span_id?: string;
  [field: string]: AnyValue | LoggedError;
}

interface LoggedError {
  type?: string;
  message?: string;
  code?: string;
  stack?: string;
}

function contextOf(traceId: string | undefined, spanId: string | undefined): Context | undefined {
  if (traceId === undefined || spanId === undefined) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.NONE });
}

/** https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-logs/ */
function exceptionAttributes(error: LoggedError | undefined): Attributes {
  if (!error) return {};
  const { type, message, code, stack } = error;
  return {
    'exception.type': type,
    'exception.message': message,
    'exception.stacktrace': stack,
    'error.code': code,
  };
}
