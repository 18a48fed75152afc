import { useState } from 'react';
import { classes } from '../../ui/classes.ts';
import { Field, TextArea } from '../../ui/field.tsx';
import { Switch } from '../../ui/switch.tsx';

export interface PromptFieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** Large field for the system prompt with an optional monospace font. */
export function PromptField({ value, onChange, error }: PromptFieldProps) {
  const [isMono, setMono] = useState(false);
  return (
    <div className="relative">
      <div className="absolute end-0 top-0 flex items-center gap-2 text-[13px] text-muted">
        <span aria-hidden>Monospace</span>
        <Switch label="Monospace prompt" checked={isMono} onChange={setMono} />
      </div>
      <Field
        label="System prompt"
        optional
        hint={`Instructions that precede every conversation. ${value.length.toLocaleString('en')} characters.`}
        error={error}
      >
        <TextArea
          rows={14}
          className={classes('mt-1 resize-y', isMono && 'font-mono text-[13px]')}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
    </div>
  );
}
