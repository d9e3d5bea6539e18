import { render } from "preact";
import "./style.css";
import "./data.css";
import { App } from "./app.tsx";
import { preloadPage } from "./routes.ts";

preloadPage(location.pathname);
render(<App />, document.body);
