import { useState } from 'react';
import type { ToolCall } from '../../../../journal/chat.ts';
import { Button } from '../../../../ui/button.tsx';
import { Field, TextArea } from '../../../../ui/field.tsx';
import type { AnswerFormProps } from './answer-form.ts';

export interface ClientResultProps extends AnswerFormProps {
  call: ToolCall;
}

/** Form for the result of a client tool, in place of the client. A text that is not JSON is sent as a string. */
export function ClientResult({ call, busy, onAnswer, curlOf }: ClientResultProps) {
  const [text, setText] = useState('');
  const isEmpty = text.trim() === '';
  const output = parseResult(text);
  // Names the tool, because several calls can be pending.
  const which = <span className="sr-only">: {call.name}</span>;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-[13px] text-muted">
        A client runs this tool and submits its result. You can submit a result yourself.
      </p>
      <Field label="Result" hint="JSON or text.">
        <TextArea value={text} rows={3} onChange={(event) => setText(event.target.value)} />
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button small look="primary" busy={busy} disabled={isEmpty} onClick={() => onAnswer({ output })}>
          Submit result
          {which}
        </Button>
        <Button small busy={busy} disabled={isEmpty} onClick={() => onAnswer({ error: text })}>
          Submit as an error
          {which}
        </Button>
        {!isEmpty && curlOf({ output })}
      </div>
    </div>
  );
}

function parseResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
