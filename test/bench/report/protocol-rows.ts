import type { ChatStreams } from '../measurements/protocols/chat-streams.ts';
import type { McpServing } from '../measurements/protocols/mcp.ts';
import { median, ms, type Row } from './rows.ts';

/** Results of the measurements of protocols per round; empty if they were not measured. */
export interface ProtocolResults {
  mcpServing: McpServing[];
  chatStreams: ChatStreams[];
}

const KIB = 1_024;
const MIN_RATIO = 0.5;
const MAX_LIST_MS = 5;
const MAX_WAIT_KIB = 30;
const MIN_STREAM_RATIO = 0.8;
const MAX_BEHIND_MS = 5;

export function protocolRows({ mcpServing, chatStreams }: ProtocolResults): Row[] {
  return [...mcpRows(mcpServing), ...chatRows(chatStreams)];
}

/** Compares chat completions with `ai-stream`. */
function chatRows(rounds: ChatStreams[]): Row[] {
  if (rounds.length === 0) return [];
  const of = (figureOf: (one: ChatStreams) => number) => median(rounds, figureOf);
  const ratio = of(({ perSecond }) => perSecond['chat-completions'] / perSecond['ai-stream']);
  const behind = of(({ firstTokenMs }) => firstTokenMs['chat-completions'] - firstTokenMs['ai-stream']);
  return [
    {
      letter: 'u"',
      what: 'streams of chat completions',
      figure: `${of(({ perSecond }) => perSecond['chat-completions']).toFixed(0)}/s`,
      ratio: `u"/ai-stream ${ratio.toFixed(2)}`,
      target: [`at least ${MIN_STREAM_RATIO}`, ratio >= MIN_STREAM_RATIO],
    },
    {
      what: 'their first text after ai-stream',
      figure: ms(behind),
      target: [`at most ${MAX_BEHIND_MS} ms`, behind <= MAX_BEHIND_MS],
    },
  ];
}

/** Compares `/mcp` with the REST API and with its limits. */
function mcpRows(rounds: McpServing[]): Row[] {
  if (rounds.length === 0) return [];
  const of = (figureOf: (one: McpServing) => number) => median(rounds, figureOf);
  const ratio = of(({ toolCalls, creations }) => toolCalls / creations);
  const readRatio = of(({ toolReads, reads }) => toolReads / reads);
  const list = of(({ listCpuMs }) => listCpuMs);
  const wait = of(({ waitBytes }) => waitBytes) / KIB;
  return [
    {
      letter: "u'",
      what: 'tools/call, new conversation',
      figure: `${of(({ toolCalls }) => toolCalls).toFixed(0)}/s`,
      ratio: `u'/REST ${ratio.toFixed(2)}`,
      target: [`at least ${MIN_RATIO}`, ratio >= MIN_RATIO],
    },
    {
      what: 'tools/call, one agent',
      figure: `${of(({ toolReads }) => toolReads).toFixed(0)}/s`,
      ratio: `u'/REST ${readRatio.toFixed(2)}`,
    },
    {
      what: 'tools/list with 64 agents, CPU',
      figure: ms(list),
      target: [`at most ${MAX_LIST_MS} ms`, list <= MAX_LIST_MS],
    },
    {
      what: `${of(({ waits }) => waits)} waiting calls, memory`,
      figure: `${wait.toFixed(1)} KiB each`,
      target: [`at most ${MAX_WAIT_KIB} KiB`, wait <= MAX_WAIT_KIB],
    },
  ];
}
