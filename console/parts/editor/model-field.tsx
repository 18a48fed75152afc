import { Field, Input } from '../../ui/field.tsx';

const SUGGESTIONS = [
  { value: 'rehearsal/echo', text: 'Repeats the message. Needs no API key.' },
  { value: 'rehearsal/shell', text: 'Runs lines that begin with $. Needs no API key.' },
  { value: 'rehearsal/script', text: 'Plays the steps in the model options. Needs no API key.' },
  { value: 'anthropic/', text: 'Append the ID of a Claude model.' },
  { value: 'openai/', text: 'Append the ID of an OpenAI model.' },
];

export interface ModelFieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** Free-text field for a model name, with suggestions. */
export function ModelField({ value, onChange, error }: ModelFieldProps) {
  return (
    <Field
      label="Model"
      hint="<provider>/<model ID>. Endpoints configured by the operator have their own provider names."
      error={error}
    >
      <Input
        value={value}
        onChange={(event) => onChange(event.target.value)}
        suggestions={SUGGESTIONS}
        spellCheck={false}
        autoCapitalize="none"
        placeholder="rehearsal/echo"
        className="font-mono text-[13px]"
      />
    </Field>
  );
}
