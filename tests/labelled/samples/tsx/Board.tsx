import React, { useEffect, useMemo, useState, type ReactNode } from "react";
import { api as client } from "../api";
import styles from "./Board.module.css";

export const PAGE = 20;
const labels: Record<Status, string> = { open: "Open", done: "Done" };

type Status = "open" | "done";

export type Props = {
  title: string;
  children?: ReactNode;
  onClose?: () => void;
};

interface Task {
  id: number;
  name: string;
  status: Status;
}

interface State extends Props {
  tasks: Task[];
}

enum View {
  List,
  Grid,
}

const ThemeContext = React.createContext("light");

/** One line of the board. */
export function Row({ task, onMove }: { task: Task; onMove: (task: Task) => void }) {
  const theme = React.useContext(ThemeContext);
  return (
    <li className={`${styles.row} ${theme}`} onClick={() => onMove(task)}>
      {task.status === "done" ? <s>{task.name}</s> : task.name}
      {task.id > 0 && <Badge count={task.id} />}
    </li>
  );
}

const Badge = ({ count = 0 }: { count?: number }) => <b>{format(count)}</b>;

export const Memoized = React.memo(function Inner(props: Props) {
  return <div {...props} />;
});

export const Input = React.forwardRef<HTMLInputElement, Props>((props, ref) => (
  <input ref={ref} placeholder={props.title} />
));

function format(count: number): string {
  return count > 99 ? "99+" : String(count);
}

export function useTasks(status: Status = "open"): [Task[], (name: string) => Promise<void>] {
  const [tasks, setTasks] = useState<Task[]>([]);
  useEffect(() => {
    let stopped = false;
    client.list(status).then((found) => {
      if (!stopped) setTasks(found);
    });
    return () => {
      stopped = true;
    };
  }, [status]);
  const add = async (name: string) => {
    const task = await client.add({ name, status });
    setTasks((old) => [...old, task]);
  };
  return [tasks, add];
}

export default function Board({ title, children, onClose }: Props) {
  const [tasks, add] = useTasks();
  const [view, setView] = useState(View.List);
  const shown = useMemo(() => tasks.slice(0, PAGE), [tasks]);
  const handleKey = (event: React.KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== "Enter") return;
    add(event.currentTarget.value);
  };
  function toggle() {
    setView(view === View.List ? View.Grid : View.List);
  }
  return (
    <ThemeContext.Provider value="dark">
      <h1 onClick={toggle}>{title}</h1>
      <input onKeyDown={handleKey} />
      <ul>
        {shown.map((task) => (
          <Row key={task.id} task={task} onMove={() => onClose?.()} />
        ))}
      </ul>
      <>{children}</>
    </ThemeContext.Provider>
  );
}

export class Boundary extends React.Component<Props, { failed: boolean }> {
  static displayName = "Boundary";
  state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  componentDidCatch(error: Error, info: React.ErrorInfo): void {
    console.error(error, info.componentStack);
  }

  private reset = () => {
    this.setState({ failed: false });
  };

  render() {
    if (this.state.failed) {
      return <button onClick={this.reset}>Again</button>;
    }
    return this.props.children;
  }
}

export const List = <T,>({ items, render }: { items: T[]; render: (item: T) => ReactNode }) => {
  return <ol>{items.map(render)}</ol>;
};

const reducer = (state: State, action: { type: string; task?: Task }): State => {
  switch (action.type) {
    case "add":
      return { ...state, tasks: state.tasks.concat(action.task!) };
    case "clear":
      return { ...state, tasks: [] };
    default:
      throw new Error(`unknown action ${action.type}`);
  }
};

const Empty = function Nothing() {
  return null;
};

export const Lazy = React.lazy(() => import("./Heavy"));

function withLog<P extends object>(Wrapped: React.ComponentType<P>) {
  return function Logged(props: P) {
    console.log(Wrapped.displayName);
    return <Wrapped {...props} />;
  };
}

export const LoggedRow = withLog(Row);

const handlers = {
  open(task: Task) {
    return client.open(task.id);
  },
  close: async (task: Task) => {
    await client.close(task.id);
    task.status = "done";
  },
};
