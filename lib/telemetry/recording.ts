import { ROOT_CONTEXT } from '@opentelemetry/api';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { childSpan, startTrace, type Trace } from '../trace.ts';
import type { TelemetrySettings } from './options.ts';
import { RecordedSpan, type SpanRecorder } from './recorded-span.ts';
import { SilentSpan, type SpanOptions, type Tracer } from './tracer.ts';

/** Creates a tracer whose spans go to the recorder. */
export function createTracer(recorder: SpanRecorder, isSampled: SamplingRule): Tracer {
  const record = (
    name: string,
    trace: Trace,
    { kind = 'internal', parent, startedAt, links = [], attributes }: SpanOptions,
  ) => new RecordedSpan({ name, kind, trace, parent, startedAt, links, attributes }, recorder);
  return {
    silent: false,
    begin(name, spanOptions = {}) {
      const { parent, entering } = spanOptions;
      // Inner services follow the decision of the entry point, so that a trace is recorded completely or not at all.
      if (parent && !entering && !parent.sampled) return new SilentSpan(parent);
      const trace = parent ? childSpan(parent) : startTrace();
      if (!parent || entering) trace.sampled = isSampled(trace.traceId, parent?.sampled);
      return trace.sampled ? record(name, trace, spanOptions) : new SilentSpan(trace);
    },
    beginShared(name, members, spanOptions = {}) {
      const trace = startTrace();
      const links = members.filter(({ sampled }) => sampled);
      if (links.length === 0) return new SilentSpan(trace);
      trace.sampled = true;
      return record(name, trace, { ...spanOptions, links });
    },
  };
}

/** Returns whether a trace is recorded. `parentSampled` is the caller's decision; undefined where a trace starts here. */
type SamplingRule = (traceId: string, parentSampled: boolean | undefined) => boolean;

export function createSamplingRule({
  sampler,
  samplerRatio,
}: Pick<TelemetrySettings, 'sampler' | 'samplerRatio'>): SamplingRule {
  const root = rootSamplingRule(sampler.replace('parentbased_', ''), samplerRatio);
  return sampler.startsWith('parentbased_')
    ? (traceId, parentSampled) => parentSampled ?? root(traceId)
    : root;
}

function rootSamplingRule(sampler: string, ratio: number): (traceId: string) => boolean {
  if (sampler !== 'traceidratio') return () => sampler === 'always_on';
  const ratioSampler = new TraceIdRatioBasedSampler(ratio);
  return (traceId) =>
    ratioSampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
}
