import { render } from "preact";
import "./style.css";
import "./data.css";
import { App } from "./app.tsx";

render(<App />, document.body);
