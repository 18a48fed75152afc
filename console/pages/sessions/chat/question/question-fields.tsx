import { Checkbox } from '../../../../ui/checkbox.tsx';
import { Field, Input } from '../../../../ui/field.tsx';
import { Select } from '../../../../ui/select.tsx';
import type { FieldTexts, QuestionField } from './question.ts';

export interface QuestionFieldsProps {
  fields: readonly QuestionField[];
  texts: FieldTexts;
  problems: Readonly<Record<string, string>>;
  onTexts: (texts: FieldTexts) => void;
}

/** The form fields of a question. */
export function QuestionFields({ fields, texts, problems, onTexts }: QuestionFieldsProps) {
  return fields.map((field) => (
    <QuestionFieldInput
      key={field.name}
      field={field}
      text={texts[field.name] ?? field.initial}
      problem={problems[field.name]}
      onText={(text) => onTexts({ ...texts, [field.name]: text })}
    />
  ));
}

interface QuestionFieldInputProps {
  field: QuestionField;
  text: string;
  problem: string | undefined;
  onText: (text: string) => void;
}

function QuestionFieldInput({ field, text, problem, onText }: QuestionFieldInputProps) {
  const { label, hint, input, isRequired } = field;
  const fieldProps = { label, hint, error: problem, optional: !isRequired };
  switch (input.kind) {
    case 'boolean':
      return (
        <Checkbox checked={text === 'true'} onChange={(checked) => onText(String(checked))}>
          {label}
          {hint && <span className="block text-[13px] text-muted">{hint}</span>}
        </Checkbox>
      );
    case 'choice':
      return (
        <Field {...fieldProps}>
          <Select
            label={label}
            value={text}
            options={[{ value: '', text: 'Choose a value' }, ...input.options]}
            onChange={onText}
          />
        </Field>
      );
    case 'number':
      return (
        <Field {...fieldProps}>
          <Input
            inputMode={input.isInteger ? 'numeric' : 'decimal'}
            value={text}
            onChange={(event) => onText(event.currentTarget.value)}
          />
        </Field>
      );
    case 'text':
      return (
        <Field {...fieldProps}>
          <Input type={input.type} value={text} onChange={(event) => onText(event.currentTarget.value)} />
        </Field>
      );
  }
}
