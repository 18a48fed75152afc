import { Autocomplete } from '@base-ui/react/autocomplete';
import { Field } from '../../ui/field.tsx';

const SUGGESTIONS: readonly { value: string; about: string }[] = [
  { value: 'rehearsal/echo', about: 'Says what it hears. Needs no key.' },
  { value: 'rehearsal/shell', about: 'Runs lines that begin with $. Needs no key.' },
  { value: 'rehearsal/script', about: 'Plays the steps of its model options. Needs no key.' },
  { value: 'anthropic/', about: 'Add the id of a Claude model.' },
  { value: 'openai/', about: 'Add the id of an OpenAI model.' },
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
      <Autocomplete.Root
        items={SUGGESTIONS}
        value={value}
        onValueChange={onChange}
        itemToStringValue={(item: (typeof SUGGESTIONS)[number]) => item.value}
      >
        <Autocomplete.Input
          spellCheck={false}
          autoCapitalize="none"
          placeholder="rehearsal/echo"
          className="h-9 w-full rounded-lg border border-line bg-surface px-3 font-mono text-[13px] hover:border-strong-line aria-invalid:border-bad"
        />
        <Autocomplete.Portal>
          <Autocomplete.Positioner sideOffset={6} className="z-50">
            <Autocomplete.Popup className="w-(--anchor-width) min-w-72 animate-appear rounded-xl border border-line bg-raised p-1 shadow-float data-empty:hidden">
              <Autocomplete.List>
                {({ value: model, about }: (typeof SUGGESTIONS)[number]) => (
                  <Autocomplete.Item
                    key={model}
                    value={{ value: model, about }}
                    className="flex cursor-pointer flex-wrap items-baseline gap-x-3 rounded-lg px-2.5 py-1.5 outline-none select-none data-highlighted:bg-sunken"
                  >
                    <span className="font-mono text-[13px]">{model}</span>
                    <span className="text-[13px] text-muted">{about}</span>
                  </Autocomplete.Item>
                )}
              </Autocomplete.List>
            </Autocomplete.Popup>
          </Autocomplete.Positioner>
        </Autocomplete.Portal>
      </Autocomplete.Root>
    </Field>
  );
}
