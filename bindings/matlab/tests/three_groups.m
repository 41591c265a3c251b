function [X, truth, K] = three_groups(n)
% n points in the plane in three groups far apart, and a Gaussian kernel; always the same.
centre = [0 0; 10 0; 0 10];
truth = mod((0:n - 1)', 3) + 1;
X = centre(truth, :) + [sin(1:n)', cos(3 * (1:n)')];
K = exp(-((X(:, 1) - X(:, 1)') .^ 2 + (X(:, 2) - X(:, 2)') .^ 2) / 20);
end
