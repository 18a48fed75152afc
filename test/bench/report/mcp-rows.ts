import type { McpFigures } from '../measurements/mcp.ts';
import { median, ms, type Row, spread } from './rows.ts';

/** Results of the measurement of MCP tools per round; empty if it was not measured. */
export interface McpResults {
  mcp: McpFigures[];
}

const MAX_OFFER_MS = 2;
const MAX_CALL_RATIO = 1.3;
const MAX_CPU_MS = 2;
const MAX_DELAY_MS = 20;
const MAX_CATALOGUE_MIB = 32;

/** Compares remote MCP tools with their limits and with a bare client of the SDK. */
export function mcpRows({ mcp }: McpResults): Row[] {
  if (mcp.length === 0) return [];
  const of = (figureOf: (one: McpFigures) => number) => median(mcp, figureOf);
  const requests = Math.max(...mcp.map(({ requestsOfOffer }) => requestsOfOffer));
  const offer = of(({ offer: { p50Ms } }) => p50Ms);
  const ratio = of(({ call, bareCallMs }) => call.p50Ms / bareCallMs);
  const cpu = of(({ callCpuMs }) => callCpuMs);
  const delay = of(({ delayP99Ms }) => delayP99Ms);
  const memory = of(({ catalogueMib }) => catalogueMib);
  return [
    {
      letter: 'n"',
      what: '128 tools of 20 servers, offer',
      figure: spread(mcp, (one) => one.offer),
      ratio: `n"/JSON ${of(({ offer: { p50Ms }, bareOfferMs }) => p50Ms / bareOfferMs).toFixed(2)}`,
      target: [`at most ${MAX_OFFER_MS} ms`, offer <= MAX_OFFER_MS],
    },
    { what: 'requests before the model', figure: `${requests}`, target: ['0', requests === 0] },
    {
      what: 'call of an MCP tool',
      figure: spread(mcp, (one) => one.call),
      ratio: `n"/bare ${ratio.toFixed(2)}`,
      target: [`at most ${MAX_CALL_RATIO} times`, ratio <= MAX_CALL_RATIO],
    },
    {
      what: 'CPU of the call',
      figure: ms(cpu),
      ratio: `n"/bare ${of(({ callCpuMs, bareCallCpuMs }) => callCpuMs / bareCallCpuMs).toFixed(2)}`,
      target: [`at most ${MAX_CPU_MS} ms`, cpu <= MAX_CPU_MS],
    },
    {
      what: 'loop delay p99, hostile schema',
      figure: ms(delay),
      ratio: `n"/rest ${of(({ delayP99Ms, restP99Ms }) => delayP99Ms / restP99Ms).toFixed(2)}`,
      target: [`at most ${MAX_DELAY_MS} ms`, delay <= MAX_DELAY_MS],
    },
    {
      what: 'memory of a hostile catalogue',
      figure: `${memory.toFixed(0)} MiB`,
      ratio: `n"/body ${of(({ catalogueMib, catalogueBytes }) => (catalogueMib * 1024 * 1024) / catalogueBytes).toFixed(1)}`,
      target: [`at most ${MAX_CATALOGUE_MIB} MiB`, memory <= MAX_CATALOGUE_MIB],
    },
  ];
}
