import { Plus, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Input, TextArea } from '../../ui/field.tsx';
import { type ClientToolDraft, readInputSchema } from './client-tools.ts';
import { JsonField } from './json-field.tsx';
import type { ToolProblems } from './tool-problems.ts';

const NEW_SCHEMA = JSON.stringify({ type: 'object', properties: {} }, null, 2);
/** New rows have negative ids. Saved ones are numbered from 0. */
let lastNewId = 0;

export interface ClientToolsFieldProps {
  value: readonly ClientToolDraft[];
  onChange: (value: ClientToolDraft[]) => void;
  problems: ToolProblems;
}

/** The client tools of an agent or an assistant, one row each. */
export function ClientToolsField({ value, onChange, problems }: ClientToolsFieldProps) {
  const addButton = useRef<HTMLButtonElement>(null);
  const [addedId, setAddedId] = useState<number>();
  function add(): void {
    const rowId = --lastNewId;
    setAddedId(rowId);
    onChange([...value, { rowId, name: '', description: '', inputSchema: NEW_SCHEMA }]);
  }
  return (
    <>
      {value.length > 0 && (
        <ol aria-label="Client tools" className="flex flex-col gap-3">
          {value.map((row, index) => (
            <li key={row.rowId}>
              <ClientToolRow
                row={row}
                number={index + 1}
                isNew={row.rowId === addedId}
                problems={problems}
                onChange={(changes) =>
                  onChange(value.map((one) => (one.rowId === row.rowId ? { ...one, ...changes } : one)))
                }
                onRemove={() => {
                  onChange(value.filter(({ rowId }) => rowId !== row.rowId));
                  addButton.current?.focus();
                }}
              />
            </li>
          ))}
        </ol>
      )}
      <div>
        <Button small ref={addButton} onClick={add}>
          <Plus aria-hidden />
          Add client tool
        </Button>
      </div>
    </>
  );
}

interface ClientToolRowProps {
  row: ClientToolDraft;
  /** Its position, from 1. */
  number: number;
  /** The row was just added and takes the focus. */
  isNew: boolean;
  problems: ToolProblems;
  onChange: (changes: Partial<ClientToolDraft>) => void;
  onRemove: () => void;
}

function ClientToolRow({ row, number, isNew, problems, onChange, onRemove }: ClientToolRowProps) {
  const title = `Client tool ${number}`;
  return (
    <fieldset
      aria-label={title}
      className="flex min-w-0 flex-col gap-3 rounded-xl border border-line bg-surface p-3"
    >
      <div className="flex items-center justify-between gap-2">
        <span aria-hidden className="font-medium">
          {title}
        </span>
        <IconButton
          label={`Remove ${row.name.trim() || title.toLowerCase()}`}
          icon={<Trash2 />}
          onClick={onRemove}
        />
      </div>
      <Field label="Tool name" error={problems.ofRow(row, 'name')}>
        <Input
          className="font-mono text-[13px]"
          spellCheck={false}
          autoFocus={isNew}
          value={row.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      <Field
        label="Tool description"
        hint="Describes for the model what the tool does and when to use it."
        error={problems.ofRow(row, 'description')}
      >
        <TextArea
          rows={2}
          value={row.description}
          onChange={(event) => onChange({ description: event.target.value })}
        />
      </Field>
      <JsonField
        label="Input schema"
        required
        hint='A JSON Schema with "type": "object".'
        placeholder='{"type": "object"}'
        value={row.inputSchema}
        onChange={(inputSchema) => onChange({ inputSchema })}
        check={(text) => readInputSchema(text).problem}
        error={problems.ofRow(row, 'input_schema')}
      />
    </fieldset>
  );
}
