import type { EventOf } from './event.ts';

export type CompactionData = EventOf<'agent.context_compacted'>['data'];

const EFFECTS: Record<CompactionData['strategy'], string> = {
  summarize: 'Earlier messages were replaced by a summary',
  drop_turns: 'The oldest messages were left out',
  drop_tool_results: 'Large outputs of tools were moved to files',
};
/** The files could not be written. */
const OUTPUTS_LEFT_OUT = 'Large outputs of tools were left out';

const REASONS: Record<NonNullable<CompactionData['fallback']>, string> = {
  summary_failed: 'because no summary could be written',
  summary_empty: 'because the summary was empty',
  results_too_small: 'because moving outputs to files was not enough',
};

/** Describes what a compaction has changed for the model, and why it is not what the agent asks for. */
export function compactionText(data: CompactionData): string {
  const reason = data.fallback && REASONS[data.fallback];
  return reason ? `${effectOf(data)}, ${reason}` : effectOf(data);
}

function effectOf({ strategy, moved = [] }: CompactionData): string {
  const hasFile = moved.some(({ path }) => path !== undefined);
  return strategy === 'drop_tool_results' && !hasFile ? OUTPUTS_LEFT_OUT : EFFECTS[strategy];
}

/** The estimated length of the request before and after: "from about 12,300 to 4,100 tokens". */
export function compactionTokensText({
  tokens_before: before,
  tokens_after: after,
}: Pick<CompactionData, 'tokens_before' | 'tokens_after'>): string {
  return `from about ${before.toLocaleString('en')} to ${after.toLocaleString('en')} tokens`;
}
