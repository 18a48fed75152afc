import { useMutation } from '@tanstack/react-query';
import { ApiError } from '../../../../api/client.ts';
import { sessions, type ToolResult } from '../../../../api/sessions.ts';
import type { Session } from '../../../../gen/index.ts';
import type { ToolCall } from '../../../../journal/chat.ts';
import { CopyCurl } from '../../../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../../../parts/errors/error-state.tsx';
import { refusedFields } from '../refused-fields.ts';
import { useCardHeaderFocus } from '../use-card-header-focus.ts';
import { ClientResult } from './client-result.tsx';
import { type Question, questionOf } from './question.ts';
import { QuestionForm, QuestionText } from './question-form.tsx';

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
      {question ? (
        <QuestionForm
          question={question}
          busy={shared.busy}
          refused={error instanceof ApiError ? refusedFields(error.details, 'output') : {}}
          onAnswer={(output) => mutate({ output })}
          curlOf={(output) => shared.curlOf({ output })}
        />
      ) : (
        <ClientResult call={call} {...shared} />
      )}
      <ErrorAlert error={error} />
    </div>
  );
}
