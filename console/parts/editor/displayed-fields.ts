import type { AgentVersion } from '../../gen/index.ts';
import { type DisplayedField, objectText } from '../diff/fields.ts';
import type { AgentSettings } from './agent-draft.ts';
import { isClientTool } from './client-tools.ts';

type AgentRuntime = Pick<
  AgentVersion,
  | 'model'
  | 'models'
  | 'model_options'
  | 'system'
  | 'environment_id'
  | 'tools'
  | 'max_steps'
  | 'budget'
  | 'output_schema'
  | 'overridable'
  | 'context'
>;

/** Returns the runtime settings of an agent version for display and comparison. */
export function runtimeFields(runtime: AgentRuntime): DisplayedField[] {
  const { max_tokens: tokens, max_turn_seconds: seconds } = runtime.budget;
  return [
    { label: 'Model', text: runtime.model },
    { label: 'Fallback models', text: runtime.models.slice(1).join('\n') },
    { label: 'System prompt', text: runtime.system },
    { label: 'Model options', text: objectText(runtime.model_options) },
    {
      label: 'Tools',
      text: runtime.tools
        .flatMap((tool) => (isClientTool(tool) ? [] : [`${tool.name}: ${tool.permission ?? 'default'}`]))
        .sort()
        .join('\n'),
    },
    {
      label: 'Client tools',
      text: objectText(
        Object.fromEntries(
          runtime.tools.filter(isClientTool).map(({ type: _, name, ...tool }) => [name, tool]),
        ),
      ),
    },
    { label: 'Environment', text: runtime.environment_id ?? 'Default environment' },
    { label: 'Steps', text: String(runtime.max_steps) },
    { label: 'Output tokens', text: tokens?.toString() ?? 'No limit' },
    { label: 'Seconds', text: seconds?.toString() ?? 'No limit' },
    { label: 'Output schema', text: schemaText(runtime.output_schema) },
    { label: 'Overridable settings', text: runtime.overridable.toSorted().join('\n') },
    { label: 'Long conversations', text: contextText(runtime.context) },
  ];
}

/** One line for each member that is set. */
function contextText(context: AgentRuntime['context']): string {
  const lines = [
    ['Strategy', context.strategy],
    ['Threshold', context.threshold],
    ['Turns to keep', context.keep_turns],
    ['Context window', context.window],
    ['Model of summaries', context.model],
    ['Instructions for summaries', context.instructions],
  ].flatMap(([label, value]) => (value === undefined ? [] : [`${label}: ${value}`]));
  return lines.length === 0 ? 'Defaults' : lines.join('\n');
}

function schemaText(schema: AgentRuntime['output_schema']): string {
  if (schema === null) return '';
  return typeof schema === 'boolean' ? String(schema) : JSON.stringify(schema, null, 2);
}

/** Returns all settings for display and comparison, including name and metadata. */
export function settingsFields(editable: AgentSettings): DisplayedField[] {
  return [
    { label: 'Name', text: editable.name },
    { label: 'Description', text: editable.description },
    { label: 'Enabled', text: editable.enabled ? 'Yes' : 'No' },
    ...runtimeFields(editable),
    { label: 'Metadata', text: objectText(editable.metadata) },
  ];
}
