import { useQuery } from '@tanstack/react-query';
import { models } from '../../api/models.ts';
import { Field, TextArea } from '../../ui/field.tsx';
import { RadioOptions } from '../../ui/radio-options.tsx';
import type { AgentDraft } from './agent-draft.ts';
import { type ContextStrategy, DEFAULT_STRATEGY } from './context-draft.ts';
import { ModelField } from './model-field.tsx';
import { NumberField } from './number-field.tsx';
import { type FieldProblems, problemAt } from './problems.ts';

const STRATEGIES: readonly { value: ContextStrategy; text: string; about: string }[] = [
  {
    value: 'summarize',
    text: 'Summarize (default)',
    about:
      'Large outputs of tools move to files. If that is not enough, a summary takes the place of older messages.',
  },
  {
    value: 'drop_tool_results',
    text: 'Move outputs, never summarize',
    about:
      'Large outputs of tools move to files. If that is not enough, the oldest messages are left out without a summary.',
  },
  {
    value: 'none',
    text: 'Do not shorten',
    about: 'A turn fails when the conversation is longer than the context window.',
  },
];

export interface ContextFieldsProps {
  draft: AgentDraft;
  onChange: (changes: Partial<AgentDraft>) => void;
  problems: FieldProblems;
}

/** Form fields of the setting `context`. An empty field stands for the default. */
export function ContextFields({ draft, onChange, problems }: ContextFieldsProps) {
  const at = (name: string) => problemAt(problems, `/context/${name}`);
  const strategy = draft.contextStrategy || DEFAULT_STRATEGY;
  // A field without an effect is hidden only while it is empty, because the service checks its value.
  const showsRange = strategy !== 'none' || draft.contextThreshold !== '' || draft.contextKeepTurns !== '';
  const showsSummary =
    strategy === 'summarize' || draft.contextModel !== '' || draft.contextInstructions !== '';
  return (
    <>
      <StrategyField
        value={strategy}
        onChange={(value) => onChange({ contextStrategy: value === DEFAULT_STRATEGY ? '' : value })}
        error={at('strategy')}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        <WindowField draft={draft} onChange={onChange} error={at('window')} />
        {showsRange && (
          <>
            <NumberField
              label="Threshold"
              optional
              isDecimal
              placeholder="0.8"
              hint="Part of the window, less the longest answer, at which the conversation is shortened: 0.1 to 0.95."
              value={draft.contextThreshold}
              onChange={(contextThreshold) => onChange({ contextThreshold })}
              error={at('threshold')}
            />
            <NumberField
              label="Turns to keep"
              optional
              placeholder="3"
              hint="The newest turns that stay as they are while they fit: 1 to 100."
              value={draft.contextKeepTurns}
              onChange={(contextKeepTurns) => onChange({ contextKeepTurns })}
              error={at('keep_turns')}
            />
          </>
        )}
      </div>
      {showsSummary && (
        <>
          <ModelField
            label="Model of summaries"
            optional
            placeholder="The model of the turn"
            hint="Leave the field empty to use the model of the turn."
            value={draft.contextModel}
            onChange={(contextModel) => onChange({ contextModel })}
            error={at('model')}
          />
          <Field
            label="Instructions for summaries"
            optional
            hint="What a summary must keep, up to 8,192 characters."
            error={at('instructions')}
          >
            <TextArea
              rows={3}
              placeholder="Keep all numbers of invoices."
              value={draft.contextInstructions}
              onChange={(event) => onChange({ contextInstructions: event.target.value })}
            />
          </Field>
        </>
      )}
    </>
  );
}

interface StrategyFieldProps {
  value: ContextStrategy;
  onChange: (value: ContextStrategy) => void;
  error: string | undefined;
}

function StrategyField({ value, onChange, error }: StrategyFieldProps) {
  const title = 'When a conversation becomes too long';
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{title}</legend>
      <RadioOptions label={title} value={value} options={STRATEGIES} onChange={onChange} />
      {error && (
        <p role="alert" className="mt-1 text-[13px] text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface WindowFieldProps {
  draft: AgentDraft;
  onChange: (changes: Partial<AgentDraft>) => void;
  error: string | undefined;
}

function WindowField({ draft, onChange, error }: WindowFieldProps) {
  const { data } = useQuery(models.all());
  const model = draft.model.trim();
  const known = data?.find(({ name, model_id: id }) => id !== null && name === model)?.context_window;
  return (
    <NumberField
      label="Context window"
      optional
      placeholder={known?.toString() ?? 'Of the model'}
      hint={
        known
          ? `In tokens. The default is that of ${model}.`
          : 'In tokens. The default is that of the model, or the one that its provider names when it refuses a request.'
      }
      value={draft.contextWindow}
      onChange={(contextWindow) => onChange({ contextWindow })}
      error={error}
    />
  );
}
