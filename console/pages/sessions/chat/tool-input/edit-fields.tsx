import { Field, Input, TextArea } from '../../../../ui/field.tsx';
import type { EditableField, EditedTexts } from './input-editor.ts';

export interface EditFieldsProps {
  fields: readonly EditableField[];
  /** The texts that the user has changed, by field. */
  texts: EditedTexts;
  problems: Readonly<Record<string, string>> | undefined;
  onTexts: (texts: EditedTexts) => void;
}

const MIN_ROWS = 3;
const MAX_ROWS = 20;
const LOOK = 'font-mono text-[12.5px]';

/** The fields of an input, to change it before the call is allowed. */
export function EditFields({ fields, texts, problems, onTexts }: EditFieldsProps) {
  // The path is rarely what is changed.
  const first = fields.findIndex(({ isSingleLine }) => !isSingleLine);
  return fields.map(({ name, label, text, isSingleLine }, index) => {
    const value = texts[name] ?? text;
    const control = {
      value,
      dir: 'ltr',
      spellCheck: false,
      autoFocus: index === first,
      className: LOOK,
      onChange: (event: { target: { value: string } }) => onTexts({ ...texts, [name]: event.target.value }),
    };
    return (
      <Field key={name} label={label} error={problems?.[name]}>
        {isSingleLine ? (
          <Input {...control} />
        ) : (
          <TextArea {...control} rows={Math.min(MAX_ROWS, Math.max(MIN_ROWS, value.split('\n').length))} />
        )}
      </Field>
    );
  });
}
