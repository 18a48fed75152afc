import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../../../ui/button.tsx';
import { answerOf, type FieldTexts, type Question } from './question.ts';
import { QuestionFields } from './question-fields.tsx';

type Answer = Record<string, unknown>;

export interface QuestionFormProps {
  question: Question;
  /** An answer is being sent or was sent. */
  busy: boolean;
  /** Problems of the last answer, by field. */
  refused: Readonly<Record<string, string>>;
  onAnswer: (answer: Answer) => void;
  /** Returns a button that copies the request of an answer. */
  curlOf: (answer: Answer) => ReactNode;
  /** Further buttons. */
  children?: ReactNode;
}

/** The form of a question to a person. */
export function QuestionForm({ question, busy, refused, onAnswer, curlOf, children }: QuestionFormProps) {
  const [texts, setTexts] = useState<FieldTexts>({});
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const { answer, problems } = answerOf(question.fields, texts);
  const hasProblems = Object.keys(problems).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWasSubmitted(true);
    if (!hasProblems && !busy) onAnswer(answer);
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
        {children}
        {!hasProblems && curlOf(answer)}
      </div>
    </form>
  );
}

export function QuestionText({ text }: { text: string }) {
  return (
    <p dir="auto" className="whitespace-pre-wrap wrap-anywhere">
      {text}
    </p>
  );
}
