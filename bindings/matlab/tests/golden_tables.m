function tables = golden_tables(name, kind)
% kernel1.csv, kernel2.csv, ... of a golden problem, or features1.csv, ...
tables = {};
while exist(golden(name, sprintf('%s%d.csv', kind, numel(tables) + 1)), 'file')
    tables{end + 1} = csvread(golden(name, sprintf('%s%d.csv', kind, numel(tables) + 1))); %#ok<AGROW>
end
end
