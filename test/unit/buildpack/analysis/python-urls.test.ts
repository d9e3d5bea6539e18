import { expect, test } from "vitest";
import { analysisOf } from "./tree.ts";

const found = (source: string) =>
  analysisOf({ "main.py": "", "requirements.txt": "", "shop/core.py": source }).suggestions.map(({ line }) => line);

test.each([
  ["an allowed origin with a type", "BACKEND_CORS_ORIGINS: list[str] = ['http://localhost']\n"],
  ["a default that is set where nothing is", "os.environ.setdefault('OLLAMA', 'http://localhost:11434')\n"],
  ["a default of what is taken out", "url = options.pop('url', 'http://localhost:8000')\n"],
  ["the default of a field", "class A(Model):\n    url: str = Field('http://localhost:8000', env='URL')\n"],
  ["the default of an option", "def run(url: str = typer.Option('http://localhost:8000', help='x')): ...\n"],
  ["the configuration of development", "class DevelopmentConfig(Config):\n    API_URL = 'http://localhost:5000'\n"],
  ["the configuration of tests", "class TestingConfig:\n    DEBUG = True\n    API_URL = 'http://localhost:5000'\n"],
  ["a case of development", "match stage:\n    case 'dev':\n        url = 'http://localhost:8000'\n"],
  ["an address with a port of its own", "url = 'http://localhost:%d' % port\n"],
])("an address of the developer's machine is no advice in Python where it is %s", (_, source) => {
  expect(found(source)).toEqual([]);
});

test.each([
  ["class Config:\n    API_URL = 'http://localhost:5000'\n", 2],
  ["class DeviceConfig(Config):\n    API_URL = 'http://localhost:5000'\n", 2],
  ["client = OpenAI(base_url='http://localhost:11434/v1')\n", 1],
  ["def load():\n    return requests.get(f'http://localhost:8000/users/{id}').json()\n", 2],
])("an address that the running app calls is: %j", (source, line) => {
  expect(found(source)).toEqual([line]);
});
