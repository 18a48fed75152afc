import { Field, Input } from '../../ui/field.tsx';

const SUGGESTIONS = [
  { value: 'rehearsal/echo', text: 'Says what it hears. Needs no key.' },
  { value: 'rehearsal/shell', text: 'Runs lines that begin with $. Needs no key.' },
  { value: 'rehearsal/script', text: 'Plays the steps of its model options. Needs no key.' },
  { value: 'anthropic/', text: 'Add the id of a Claude model.' },
  { value: 'openai/', text: 'Add the id of an OpenAI model.' },
];

export interface ModelFieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** The name of a model: anything, with what is known to be there at hand. */
export function ModelField({ value, onChange, error }: ModelFieldProps) {
  return (
    <Field
      label="Model"
      hint="<provider>/<model id>. Endpoints that the operator has added go by their own names."
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
