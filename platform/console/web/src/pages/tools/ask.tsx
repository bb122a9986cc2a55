import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../../api/client";
import { say } from "../../ui/live";

// said is an error in the words of the server.
export const said = (e: unknown): string => (e instanceof ApiError ? e.detail || "The request failed." : "The request could not be sent.");

// Ask is a dialog before something is done: what its form holds is given to act.
export function Ask({ title, about, button, danger, done, act, onClose, onDone, children }: {
  title: string;
  about: ReactNode;
  button: string;
  danger?: boolean;
  done: string; // What is said once it was done.
  act: (form: FormData) => Promise<unknown>;
  onClose: () => void;
  onDone?: (answer: unknown) => void;
  children?: ReactNode;
}) {
  const run = useMutation({
    mutationFn: act,
    onSuccess: (answer) => {
      say(done);
      onDone?.(answer);
      onClose();
    },
  });
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />}>{about}</AlertDialog.Description>
          <form onSubmit={(e) => {
            e.preventDefault();
            run.mutate(new FormData(e.currentTarget));
          }}>
            {children}
            {run.error && <p className="error refusal" role="alert">{said(run.error)}</p>}
            <div className="actions">
              <AlertDialog.Close className="button" type="button">Back</AlertDialog.Close>
              <button type="submit" className={danger ? "button danger" : "button primary"} disabled={run.isPending}>{button}</button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

export function Line({ name, label, help, value, type, required, list, min, max }: {
  name: string;
  label: string;
  help?: string;
  value?: string | number | undefined;
  type?: string;
  required?: boolean;
  list?: string[] | undefined;
  min?: number;
  max?: number;
}) {
  const id = "ask-" + name;
  return (
    <div className="edit">
      <label htmlFor={id}>{label}</label>
      <input id={id} name={name} defaultValue={value} type={type} required={required} list={list && id + "-names"} min={min} max={max}
        aria-describedby={help && id + "-about"} autoComplete="off" spellCheck={false} />
      {list && <datalist id={id + "-names"}>{list.map((n) => <option key={n} value={n} />)}</datalist>}
      {help && <p id={id + "-about"} className="muted edit-about">{help}</p>}
    </div>
  );
}

// text is what a form has under a name, if anything.
export const text = (form: FormData, name: string): string | undefined => String(form.get(name) ?? "").trim() || undefined;
export const numeric = (form: FormData, name: string): number | undefined => {
  const v = text(form, name);
  return v === undefined ? undefined : Number(v);
};
