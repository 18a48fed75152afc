import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../../../api/client.ts';
import { sessions, type ToolResult } from '../../../../api/sessions.ts';
import type { Session } from '../../../../gen/index.ts';
import type { ToolCall } from '../../../../journal/chat.ts';
import { CopyCurl } from '../../../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../../../parts/errors/error-state.tsx';
import { Button } from '../../../../ui/button.tsx';
import { useCardHeaderFocus } from '../use-card-header-focus.ts';
import type { AnswerFormProps } from './answer-form.ts';
import { ClientResult } from './client-result.tsx';
import { answerOf, type FieldTexts, type Question, questionOf, refusedFields } from './question.ts';
import { QuestionFields } from './question-fields.tsx';

export interface ToolAnswerProps {
  call: ToolCall;
  session: Session;
  mayWrite: boolean;
}

/** The form that answers a call which waits for a person (`ask_user`) or for a client. */
export function ToolAnswer({ call, session, mayWrite }: ToolAnswerProps) {
  const question = call.answerKind === 'input' ? questionOf(call.input) : undefined;
  if (!mayWrite)
    return (
      <div className="flex flex-col gap-2">
        {question && <QuestionText text={question.text} />}
        <p className="text-[13px] text-muted">Only the owner of the session can answer.</p>
      </div>
    );
  return <AnswerForm call={call} session={session} question={question} />;
}

function AnswerForm({
  call,
  session,
  question,
}: Pick<ToolAnswerProps, 'call' | 'session'> & { question: Question | undefined }) {
  const box = useCardHeaderFocus();
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: (result: ToolResult) => sessions.answer(session.session_id, call.toolUseId, result),
  });
  const shared = {
    busy: isPending || isSuccess,
    refused: error instanceof ApiError ? refusedFields(error.details) : {},
    onAnswer: mutate,
    curlOf: (result: object) => (
      <CopyCurl
        method="POST"
        path={`/sessions/${session.session_id}/tool-results`}
        body={{ tool_use_id: call.toolUseId, ...result }}
        about={`the answer to ${call.name}`}
      />
    ),
  };
  return (
    <div ref={box} className="flex flex-col gap-2">
      {question ? <QuestionForm question={question} {...shared} /> : <ClientResult call={call} {...shared} />}
      <ErrorAlert error={error} />
    </div>
  );
}

interface QuestionFormProps extends AnswerFormProps {
  question: Question;
  /** Problems of the last answer, by field. */
  refused: Readonly<Record<string, string>>;
}

function QuestionForm({ question, busy, refused, onAnswer, curlOf }: QuestionFormProps) {
  const [texts, setTexts] = useState<FieldTexts>({});
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const { answer, problems } = answerOf(question.fields, texts);
  const hasProblems = Object.keys(problems).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWasSubmitted(true);
    if (!hasProblems && !busy) onAnswer({ output: answer });
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-3">
      <QuestionText text={question.text} />
      <QuestionFields
        fields={question.fields}
        texts={texts}
        problems={wasSubmitted ? { ...refused, ...problems } : {}}
        onTexts={setTexts}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" small look="primary" busy={busy}>
          Answer
        </Button>
        {!hasProblems && curlOf({ output: answer })}
      </div>
    </form>
  );
}

function QuestionText({ text }: { text: string }) {
  return (
    <p dir="auto" className="whitespace-pre-wrap wrap-anywhere">
      {text}
    </p>
  );
}
